/**
 * Lets what was said be searched for, beside the sweeps, so that these never wait for it. Every worker process looks about
 * once a second; the database lets one of them at it at a time.
 */
import { setTimeout } from 'node:timers/promises';
import { indexBacklog } from '../db/search-index.ts';
import type { WorkerState } from './ports.ts';

/** Between two looks, in milliseconds, a quarter more or less; and how long one goes on where there is much to do. */
const LOOK_MS = 1_000;
const LONGEST_MS = 500;

type State = Pick<WorkerState, 'database' | 'log' | 'random'>;

export class Indexer {
  readonly #state: State;
  readonly #stopping = new AbortController();
  #indexing: Promise<void> = Promise.resolve();

  constructor(state: State) {
    this.#state = state;
  }

  start(): void {
    this.#indexing = this.#indexOn();
  }

  /** Ends after the statement that is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#indexing;
  }

  async #indexOn(): Promise<void> {
    const { signal } = this.#stopping;
    const { database, log, random } = this.#state;
    while (!signal.aborted) {
      const ms = LOOK_MS * (0.75 + random() / 2);
      await setTimeout(ms, undefined, { signal }).catch(() => undefined);
      const until = performance.now() + LONGEST_MS;
      try {
        while (!signal.aborted && (await indexBacklog(database.db)) && performance.now() < until);
      } catch (error) {
        log.warn({ err: error }, 'what was said could not be made searchable for now');
      }
    }
  }
}
