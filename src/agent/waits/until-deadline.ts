/** A job's deadline as a signal: it aborts effects in flight, and the loop decides again. */
import type { ActiveJob } from '../../core/run/job.ts';
import type { Clock } from '../../core/time.ts';

/** The longest timer; for a later deadline the timer is set again. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs `work` with a signal that aborts with `signal` or at the deadline. It never aborts before `clock` has reached
 * the deadline, because the next decision uses that clock. The timer ends with the work.
 */
export async function untilDeadline<T>(
  clock: Clock,
  { deadline }: ActiveJob,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (deadline === null) return work(signal);
  const atDeadline = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const watch = (): void => {
    const left = deadline - clock.now();
    if (left <= 0) atDeadline.abort();
    else timer = setTimeout(watch, Math.min(left, LONGEST_TIMER_MS));
  };
  watch();
  try {
    return await work(AbortSignal.any([signal, atDeadline.signal]));
  } finally {
    clearTimeout(timer);
  }
}
