// Waiting for a condition, never for the clock: with a bound, so that what does not come fails in words.
import { setTimeout as sleep } from 'node:timers/promises';

/** Short beside what is waited for, and long beside what it costs to ask. */
const PAUSE_MS = 50;

/** `what` is awaited, in words; `seconds` bounds it. */
export async function until(
  what: string,
  condition: () => Promise<boolean> | boolean,
  seconds = 110,
): Promise<void> {
  const deadline = performance.now() + seconds * 1_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${seconds} s in vain for: ${what}`);
    await sleep(PAUSE_MS);
  }
}
