/**
 * Updates the search index, apart from the sweeps, so that sweeps never wait for it. Every worker process checks about
 * once a second; the database lets one of them index at a time.
 */
import { setTimeout } from 'node:timers/promises';
import { indexBacklog } from '../../db/search/search-index.ts';
import type { WorkerState } from './ports.ts';

/**
 * Time between two checks, in milliseconds, a quarter more or less; and how long one check may take if there is much to
 * index.
 */
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

  /** Resolves after the current statement. */
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
        log.warn({ err: error }, 'could not update the search index');
      }
    }
  }
}
