/** Milliseconds since the epoch, by the database's clock. */
export type Millis = number;

/** The latest time that is accepted and stored. */
export const LATEST: Millis = Date.parse('9999-12-31T23:59:59.999Z');

/** The current time. Production uses the database's clock, passed in with the claim; tests set it. */
export type Clock = { now(): Millis };

/** ISO 8601, UTC. */
export function toIso(time: Millis): string {
  return new Date(time).toISOString();
}

export function toIsoOrNull(time: Millis | null): string | null {
  return time === null ? null : toIso(time);
}
