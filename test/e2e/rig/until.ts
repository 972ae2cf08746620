// Waiting for a condition, never for the clock: with a limit, so that a missing event fails with a message.
import { setTimeout as sleep } from 'node:timers/promises';

/** Short compared with the wait, and long compared with the cost of a check. */
const PAUSE_MS = 50;

/** `what` is awaited, as text; `seconds` limits the wait. */
export async function until(what: string, condition: () => Promise<boolean> | boolean, seconds = 110): Promise<void> {
  const deadline = performance.now() + seconds * 1_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${seconds} s without success for: ${what}`);
    await sleep(PAUSE_MS);
  }
}
