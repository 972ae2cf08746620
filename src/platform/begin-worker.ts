/** The start of a worker whose end is known before it runs: a signal may come while it starts. */
import type { Platform } from './platform.ts';

export type BegunWorker = {
  /** Resolves once the worker can claim jobs. */
  started: Promise<unknown>;
  /** Drains the worker, also if it is still starting. Ends a start that waits for the database. */
  end(): Promise<void>;
};

export function beginWorker({ startWorker }: Pick<Platform, 'startWorker'>): BegunWorker {
  const ending = new AbortController();
  const starting = startWorker(ending.signal);
  return {
    started: starting,
    async end() {
      ending.abort(new Error('the process was told to end while the worker started'));
      const worker = await starting.catch(() => null);
      await worker?.drain();
    },
  };
}
