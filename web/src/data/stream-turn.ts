/**
 * Whether a tab may hold a stream. Over HTTP/1.1 a browser opens six connections to a server, for all of its tabs together:
 * hidden tabs hold no stream, and those that are seen hold four in all, so that requests always find a connection.
 */

const MOST_STREAMS = 4;
/** Whoever only passes by another tab keeps the stream. */
const HIDDEN_MS = 1_000;

/** Resolves once the tab is seen, or the signal is raised. */
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

/** Does something whose signal is raised once the tab was hidden for a second, too. */
export async function whileSeen<Done>(
  outer: AbortSignal,
  run: (signal: AbortSignal) => Promise<Done>,
): Promise<Done> {
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

/** Gives it back; a tab that ends gives it back as well. */
type Release = () => void;

/** Null: others have them all. */
export async function takeTurn(): Promise<Release | null> {
  // Pages from afar without TLS have no locks: of them only those that are seen hold streams.
  if (!('locks' in navigator)) return () => undefined;
  for (let place = 0; place < MOST_STREAMS; place += 1) {
    const release = await take(`nightshift-stream-${place}`);
    if (release !== null) return release;
  }
  return null;
}

function take(name: string): Promise<Release | null> {
  return new Promise((resolve, reject) => {
    const held = navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      if (lock === null) return resolve(null);
      return new Promise<void>((release) => resolve(release));
    });
    held.catch(reject);
  });
}
