/** Times in the API: ISO 8601, UTC. */
import { LATEST, type Millis } from '../../core/time.ts';
import { invalid } from '../response/problem.ts';

export { LATEST };

export function toIso(time: Millis): string {
  return new Date(time).toISOString();
}

export function toIsoOrNull(time: Millis | null): string | null {
  return time === null ? null : toIso(time);
}

/** Null where nothing was given. Refuses a time that the database cannot store. */
export function parseInstant(text: string | undefined, param: string): Millis | null {
  if (text === undefined) return null;
  const time = Date.parse(text);
  if (time >= 0 && time <= LATEST) return time;
  throw invalid(`${param} must be an ISO 8601 time between the years 1970 and 9999.`, param);
}
