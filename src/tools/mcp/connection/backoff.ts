/** The delay before reconnecting to a server. It doubles with each attempt and is reset after a stable connection. */
const FIRST_MS = 250;
const LONGEST_MS = 30_000;

/** A connection that lasted this long counts as stable. */
const WELL_MS = 60_000;

export class Backoff {
  #nextMs = FIRST_MS;

  /** `lastedMs`: how long the connection lasted; 0: it failed. */
  next(lastedMs: number): number {
    if (lastedMs >= WELL_MS) this.#nextMs = FIRST_MS;
    const ms = this.#nextMs;
    this.#nextMs = Math.min(ms * 2, LONGEST_MS);
    return ms;
  }
}
