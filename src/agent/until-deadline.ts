/** A job's deadline as a signal: effects in flight end with it, and the loop decides again. */
import type { ActiveJob } from '../core/job.ts';
import type { Clock } from '../core/time.ts';

/** Timers count no further. A longer deadline is met by the next step, or by the sweep. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Runs `work` with a signal that fires with `signal`, or at the deadline. The timer ends with the work. */
export async function untilDeadline<T>(
  clock: Clock,
  { deadline }: ActiveJob,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (deadline === null) return work(signal);
  const atDeadline = new AbortController();
  const ms = Math.min(Math.max(0, deadline - clock.now()), LONGEST_TIMER_MS);
  const timer = setTimeout(() => atDeadline.abort(), ms);
  try {
    return await work(AbortSignal.any([signal, atDeadline.signal]));
  } finally {
    clearTimeout(timer);
  }
}
