/** Looks for work again and again: after the time that the last look asked for, or when a service announces submissions. */
import { setTimeout } from 'node:timers/promises';
import { submissionsDue } from '../../bus/bus.ts';
import type { WorkerState } from '../process/ports.ts';

/** Time between two looks at least, unless the first asks for the next at once, in milliseconds. */
export const APART_MS = 100;

/** `ms`: until the next look. `isFirm`: an announcement does not shorten it. */
export type Pause = { ms: number; isFirm: boolean };

export class Looks {
  readonly #bus: WorkerState['bus'];
  readonly #look: () => Promise<Pause>;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** Ends the time until the next look. */
  #hurry = new AbortController();
  #unsubscribe: () => void = () => undefined;

  /** `look` must not reject. */
  constructor(bus: WorkerState['bus'], look: () => Promise<Pause>) {
    this.#bus = bus;
    this.#look = look;
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  async subscribe(): Promise<void> {
    this.#unsubscribe = await this.#bus.subscribe(submissionsDue(), () => this.#hurry.abort());
  }

  start(): void {
    this.#running = this.#repeat();
  }

  /** Resolves after the current look. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#unsubscribe();
    await this.#running;
  }

  async #repeat(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      // Before the look, so that it does not miss what is announced meanwhile.
      this.#hurry = new AbortController();
      const { ms, isFirm } = await this.#look();
      const soon = Math.min(ms, APART_MS);
      await setTimeout(soon, undefined, { signal }).catch(() => undefined);
      const until = isFirm ? signal : AbortSignal.any([signal, this.#hurry.signal]);
      await setTimeout(ms - soon, undefined, { signal: until }).catch(() => undefined);
    }
  }
}
