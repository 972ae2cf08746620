/** The maximum milliseconds of a timer. Node.js fires a longer one at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
