/**
 * Limits the open streams of a browser. Over HTTP/1.1 a browser opens six connections to a server for all tabs
 * together. Hidden tabs hold no stream, and visible tabs hold at most three and that of their tenant, so that connections
 * remain for requests.
 */

const MOST_STREAMS = 3;
/** A tab that is hidden for less than this keeps its stream. */
const HIDDEN_MS = 1_000;

/** Resolves when the tab is visible or the signal aborts. */
export function untilSeen(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (document.visibilityState === 'hidden' && !signal.aborted) return;
      document.removeEventListener('visibilitychange', look);
      signal.removeEventListener('abort', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look);
    look();
  });
}

/** Calls `run` with a signal that aborts with `outer`, or after the tab was hidden for `HIDDEN_MS`. */
export async function whileSeen<Done>(outer: AbortSignal, run: (signal: AbortSignal) => Promise<Done>): Promise<Done> {
  const hidden = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    clearTimeout(timer);
    if (document.visibilityState === 'hidden') timer = setTimeout(() => hidden.abort(), HIDDEN_MS);
  };
  document.addEventListener('visibilitychange', look);
  look();
  try {
    return await run(AbortSignal.any([outer, hidden.signal]));
  } finally {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', look);
  }
}

/** Releases the slot; the browser also releases it when the tab closes. */
type Release = () => void;

/** Acquires a stream slot; null if all are taken. */
export async function takeTurn(): Promise<Release | null> {
  // The Web Locks API needs a secure context. Without it the number of visible tabs is the only limit.
  if (!('locks' in navigator)) return () => undefined;
  for (let place = 0; place < MOST_STREAMS; place += 1) {
    const release = await take(`nightshift-stream-${place}`);
    if (release !== null) return release;
  }
  return null;
}

function take(name: string): Promise<Release | null> {
  return new Promise((resolve, reject) => {
    const lockRequest = navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      if (lock === null) return resolve(null);
      return new Promise<void>((release) => resolve(release));
    });
    lockRequest.catch(reject);
  });
}
