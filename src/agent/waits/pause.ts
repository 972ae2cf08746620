/** A pause of a run. */
import { setTimeout } from 'node:timers/promises';

/** Ends after `ms`, or when `signal` is aborted. Never rejects. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined);
}
