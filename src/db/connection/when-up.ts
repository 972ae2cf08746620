/** Work at the start of a process: the database may still be starting, and a connection may be cut. */
import { setTimeout } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { Executor } from './client.ts';
import { isUnavailable } from './database-errors.ts';

/** How long to wait for the database to come up, in milliseconds. */
export const COMING_UP_MS = 30_000;

/**
 * Repeats `work` while the database is unavailable. So `work` must be safe to repeat. `onWait` is called once, before the
 * first wait. Rejects with the reason of `signal` once it is aborted, except while `work` runs.
 */
export async function whenUp<T>(
  work: () => Promise<T>,
  onWait: (error: unknown) => void = () => undefined,
  signal?: AbortSignal,
  comingUpMs = COMING_UP_MS,
): Promise<T> {
  const deadline = performance.now() + comingUpMs;
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error) || performance.now() > deadline) throw error;
      if (attempt === 1) onWait(error);
      await pause(500, signal);
    }
  }
}

/** Whether the database answers now. */
export async function isUp(executor: Executor): Promise<boolean> {
  try {
    await executor.execute(sql`select 1`);
    return true;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return false;
  }
}

/** Ends early when the signal is aborted. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch((error: unknown) => {
    if (signal?.aborted !== true) throw error;
  });
}
