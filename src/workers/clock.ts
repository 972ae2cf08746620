/** The database's clock as this process knows it: what it said last, plus the time since, which no clock change moves. */
import type { Clock, Millis } from '../core/time.ts';

export class DatabaseClock implements Clock {
  #ahead = Date.now() - performance.now();

  /** Said by the database just now. */
  set(now: Millis): void {
    this.#ahead = now - performance.now();
  }

  now(): Millis {
    return Math.round(performance.now() + this.#ahead);
  }
}
