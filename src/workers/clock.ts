/**
 * The database's clock as this process knows it: what it said last, plus the time since, which no clock change moves. Word
 * that took a little longer to arrive does not set it back: what was over stays over.
 */
import type { Clock, Millis } from '../core/time.ts';

/** An answer that is later than that, in milliseconds, is not late: the database's clock was set back. */
const LATE_MS = 250;

export class DatabaseClock implements Clock {
  #ahead = Date.now() - performance.now();
  #isSet = false;

  /** Said by the database just now. */
  set(now: Millis): void {
    const ahead = now - performance.now();
    if (!this.#isSet || ahead > this.#ahead || ahead < this.#ahead - LATE_MS) this.#ahead = ahead;
    this.#isSet = true;
  }

  now(): Millis {
    return Math.round(performance.now() + this.#ahead);
  }
}
