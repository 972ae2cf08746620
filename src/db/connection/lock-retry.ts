/** Retries of a statement or transaction that did not get a lock in time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LOCKED, errorCode } from './database-errors.ts';

/** Shortest pause between two tries for a lock, in milliseconds; the longest is twice as long. */
const PAUSE_MS = 50;

/** Retries while the lock is not available. A failed try has written nothing. */
export async function whileLocked<T>(
  timeoutMs: number,
  free: () => Promise<void>,
  attempt: () => Promise<T>,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (errorCode(error) !== LOCKED || performance.now() >= end) throw error;
    }
    await free();
    await sleep(PAUSE_MS * (1 + Math.random()));
  }
}
