/** Work that a worker process repeats at random intervals, apart from the sweeps. */
import { setTimeout } from 'node:timers/promises';

export class Rounds {
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  readonly #everyMs: number;
  readonly #random: () => number;
  readonly #round: (stopping: AbortSignal) => Promise<void>;

  /** `everyMs`: time between two rounds, in milliseconds, a quarter more or less. `round` must not reject. */
  constructor(everyMs: number, random: () => number, round: (stopping: AbortSignal) => Promise<void>) {
    this.#everyMs = everyMs;
    this.#random = random;
    this.#round = round;
  }

  start(): void {
    this.#running = this.#repeat();
  }

  /** Resolves when the current round has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #repeat(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const ms = this.#everyMs * (0.75 + this.#random() / 2);
      await setTimeout(ms, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await this.#round(signal);
    }
  }
}
