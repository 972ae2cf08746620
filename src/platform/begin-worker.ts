/** The start of a worker whose end is known before it runs: a signal may come while it starts. */
import type { Lifetime } from '../workers/process/process.ts';
import type { Platform } from './platform.ts';

export type BegunWorker = {
  /** Resolves once the worker can claim jobs. */
  started: Promise<unknown>;
  /** Drains the worker, also if it is still starting. Ends a start that waits for the database. */
  end(): Promise<void>;
};

/** `lifetime.onDrainRequest` ends the process: it serves nothing but its runs. */
export function beginWorker(
  { startWorker }: Pick<Platform, 'startWorker'>,
  lifetime: Pick<Lifetime, 'onDrainRequest'> = {},
): BegunWorker {
  const ending = new AbortController();
  const starting = startWorker({ ...lifetime, signal: ending.signal });
  return {
    started: starting,
    async end() {
      ending.abort(new Error('the process was told to end while the worker started'));
      const worker = await starting.catch(() => null);
      await worker?.drain();
    },
  };
}
