/** Milliseconds since the epoch, by the database's clock. */
export type Millis = number;

/** Tells the time. Production reads the database's clock, given in with the claim; tests turn the hand. */
export type Clock = { now(): Millis };

/** ISO 8601, UTC. */
export function toIso(time: Millis): string {
  return new Date(time).toISOString();
}
