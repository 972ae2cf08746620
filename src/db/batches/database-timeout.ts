/** How long a process waits for the database, and how it classifies errors. */
import { TimeoutError } from 'p-timeout';
import { isUnavailable } from '../connection/database-errors.ts';

/**
 * For `pTimeout`: after this time a query is given up. The error is created once, because creating one is expensive.
 */
export const DATABASE_TIMEOUT = {
  milliseconds: 15_000,
  message: new TimeoutError('The database did not answer within 15 seconds.'),
};

/** Whether the outcome is unknown: the statement may have been committed. */
export function isAway(error: unknown): boolean {
  return isUnavailable(error) || error instanceof TimeoutError;
}
