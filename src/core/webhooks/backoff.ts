/** When a delivery that failed is tried again, and how long its webhook is on hold. Times in milliseconds. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** After the first attempt, the second, …; from the last on, always the last. */
const DELAYS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR];

/** The longest `retry-after` that is obeyed. */
export const LONGEST_RETRY_AFTER = HOUR;

/** `attempts`: those that failed. `random`: from 0 to 1; a delay is up to a fifth longer. */
export function retryDelay(attempts: number, random: number, retryAfter: number | null): number {
  const delay = DELAYS[Math.min(attempts, DELAYS.length) - 1] ?? 5 * SECOND;
  return Math.max(delay * (1 + random / 5), retryAfterOf(retryAfter));
}

/** The longest time for which a webhook is on hold whose receiver does not work. */
const LONGEST_HOLD = 5 * MINUTE;
/** Failures in a row before a webhook is on hold at all. */
const TOLERATED = 2;

/**
 * How long nothing is sent to a receiver that does not work, after so many failures in a row: so pending deliveries do
 * not each try it at their own pace.
 */
export function holdOf(failures: number, retryAfter: number | null): number {
  const hold = failures <= TOLERATED ? 0 : Math.min(LONGEST_HOLD, SECOND * 2 ** (failures - TOLERATED));
  return Math.max(hold, retryAfterOf(retryAfter));
}

/** Deliveries that are sent to a webhook at once. One, while it is not known whether its receiver works again. */
export function parallelOf(failures: number): number {
  return failures > TOLERATED ? 1 : 4;
}

function retryAfterOf(retryAfter: number | null): number {
  return Math.min(retryAfter ?? 0, LONGEST_RETRY_AFTER);
}
