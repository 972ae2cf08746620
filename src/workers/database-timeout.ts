/** How long a worker process waits for an answer of the database, and what it makes of an error. */
import { TimeoutError } from 'p-timeout';
import { isUnavailable } from '../db/client.ts';

/** For `pTimeout`: a connection that says nothing for so long is not waited for. The error is made once: it is dear. */
export const DATABASE_TIMEOUT = {
  milliseconds: 15_000,
  message: new TimeoutError('The database did not answer in time.'),
};

/** Whether nobody can say what became of it. */
export function isAway(error: unknown): boolean {
  return isUnavailable(error) || error instanceof TimeoutError;
}
