/** The clock of a run in memory: a wait takes no time, it moves the clock. What really takes time counts too. */
import type { Clock, Millis } from '../../core/time.ts';

export class VirtualClock implements Clock {
  readonly #start: Millis;
  readonly #began = performance.now();
  #skipped = 0;

  constructor(start: Millis) {
    this.#start = start;
  }

  now(): Millis {
    return Math.round(this.#start + this.#skipped + performance.now() - this.#began);
  }

  /** `ms` have passed. */
  skip(ms: Millis): void {
    this.#skipped += ms;
  }

  /** Moves the clock to this time, if it has not come yet. */
  skipTo(time: Millis): void {
    this.skip(Math.max(0, time - this.now()));
  }
}
