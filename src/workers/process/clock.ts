/**
 * The database's clock as this process knows it: the last time that the database reported, plus the monotonic time
 * since then. So changes of the local clock have no effect. A report that was slow to arrive does not set the clock
 * back: a time that has passed stays passed.
 */
import type { Clock, Millis } from '../../core/time.ts';

/**
 * A report that is behind by more than this and its round trip, in milliseconds, was not slow: the database's clock was
 * set back.
 */
const LATE_MS = 250;

export class DatabaseClock implements Clock {
  #ahead = Date.now() - performance.now();
  #isSet = false;

  /** Takes the time that the database has just reported. `sentAt`: when it was asked, on the monotonic clock. */
  set(now: Millis, sentAt: number): void {
    const at = performance.now();
    const ahead = now - at;
    if (!this.#isSet || ahead > this.#ahead || ahead < this.#ahead - LATE_MS - (at - sentAt)) this.#ahead = ahead;
    this.#isSet = true;
  }

  /** Takes a time that the database reported a moment ago, unless the clock is ahead of it. */
  advance(now: Millis): void {
    this.#ahead = this.#isSet ? Math.max(this.#ahead, now - performance.now()) : now - performance.now();
    this.#isSet = true;
  }

  now(): Millis {
    return Math.round(performance.now() + this.#ahead);
  }
}
