/**
 * Watches over one call: ends it when the caller says so, or when nothing was heard for too long. Every byte counts as
 * hearing. SDK time-outs do not cover a body that stalls; this covers headers, streams and whole bodies alike.
 */
export type Watch = {
  /** Aborted when the call must end, whoever wants it; the connection then closes. */
  signal: AbortSignal;
  /** Why it was aborted: the caller wished it, nothing was heard for too long; null while the call goes on. */
  why(): 'caller' | 'stalled' | null;
  /** Something was heard, and the next must be heard within `idleMs`. */
  received(idleMs: number): void;
  /** The caller has its answer: what it wishes from here on is not about this call. */
  answered(): void;
  /** Ends the watch: all was heard, and nothing is open any more. */
  over(): void;
  /** Ends the watch; what is still open then is closed. */
  end(): void;
};

/** Why is told by `why`. Made once: an error with its stack for every call is dear. */
const OVER = new DOMException('The call is over.', 'AbortError');

export function createWatch(caller: AbortSignal, firstMs: number): Watch {
  const controller = new AbortController();
  const abort = (): void => controller.abort(OVER);
  let stalled = false;
  let count = 0;
  let idleMs = firstMs;
  let timer = setTimeout(doubt, idleMs);
  caller.addEventListener('abort', abort, { once: true });
  if (caller.aborted) abort();

  /** After a busy moment of this process, timers come before the bytes that waited: let those be heard first. */
  function doubt(): void {
    const before = count;
    setImmediate(() => {
      if (count !== before || controller.signal.aborted) return;
      stalled = true;
      controller.abort(OVER);
    });
  }

  function answered(): void {
    caller.removeEventListener('abort', abort);
  }

  function over(): void {
    clearTimeout(timer);
    answered();
  }

  return {
    signal: controller.signal,
    why: () => (caller.aborted ? 'caller' : stalled ? 'stalled' : null),
    received(nextMs) {
      count++;
      if (nextMs === idleMs) {
        timer.refresh();
        return;
      }
      clearTimeout(timer);
      idleMs = nextMs;
      timer = setTimeout(doubt, idleMs);
    },
    answered,
    // An abort is dear, and more so for the SDK, which hears of it.
    over,
    end() {
      over();
      controller.abort(OVER);
    },
  };
}
