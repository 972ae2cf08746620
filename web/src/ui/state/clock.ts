/** A shared clock for relative times. It ticks once a second while components use it. */
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

/** Milliseconds since 1970, rounded down to `stepMs`; a larger step renders less often. */
export function useNow(stepMs = 1000): number {
  return useSyncExternalStore(listen, () => Math.floor(now / stepMs) * stepMs);
}
