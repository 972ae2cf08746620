/** How long a server is left alone before it is tried again: longer each time, and from the start after a good while. */
const FIRST_MS = 250;
const LONGEST_MS = 30_000;

/** One that lasted so long was well. */
const WELL_MS = 60_000;

export class Backoff {
  #nextMs = FIRST_MS;

  /** `lastedMs`: how long it was up; 0: it never was. */
  next(lastedMs: number): number {
    if (lastedMs >= WELL_MS) this.#nextMs = FIRST_MS;
    const ms = this.#nextMs;
    this.#nextMs = Math.min(ms * 2, LONGEST_MS);
    return ms;
  }
}
