/**
 * Supervises one call: aborts it when the caller does, or when no byte arrives in time. SDK timeouts do not cover a
 * body that stalls; this covers headers, streams and complete bodies.
 */
export type Watch = {
  /** Aborted when the call must end for any reason; the connection then closes. */
  signal: AbortSignal;
  /** Why it was aborted: by the caller, or because no data arrived in time; null while the call goes on. */
  why(): 'caller' | 'stalled' | null;
  /** Data arrived, and the next data must arrive within `idleMs`. */
  received(idleMs: number): void;
  /** The caller has its answer: later aborts by the caller do not affect this call. */
  answered(): void;
  /** Stops the watch after everything was read and nothing is open. */
  over(): void;
  /** Stops the watch and closes what is still open. */
  end(): void;
};

/** The reason is available from `why`. Created once: an error with its stack for every call is expensive. */
const OVER = new DOMException('The call is over.', 'AbortError');

export function createWatch(caller: AbortSignal, firstMs: number): Watch {
  const controller = new AbortController();
  const abort = (): void => controller.abort(OVER);
  let stalled = false;
  let count = 0;
  let idleMs = firstMs;
  let timer = setTimeout(onIdle, idleMs);
  caller.addEventListener('abort', abort, { once: true });
  if (caller.aborted) abort();

  /** After this process was busy, timers fire before bytes that are already waiting: those are read first. */
  function onIdle(): void {
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
      if (nextMs === idleMs) return void timer.refresh();
      clearTimeout(timer);
      idleMs = nextMs;
      timer = setTimeout(onIdle, idleMs);
    },
    answered,
    // Without an abort, which is expensive, also in the SDK, which listens for it.
    over,
    end() {
      over();
      controller.abort(OVER);
    },
  };
}
