/** One clock for all that tells how long ago something was: it ticks once a second, while somebody looks. */
import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function listen(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    now = Date.now();
    timer = setInterval(() => {
      now = Date.now();
      for (const showNotice of listeners) showNotice();
    }, 1000);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Milliseconds since 1970, to the step of `stepMs`: who needs minutes is not told of seconds. */
export function useNow(stepMs = 1000): number {
  return useSyncExternalStore(listen, () => Math.floor(now / stepMs) * stepMs);
}
