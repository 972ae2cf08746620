/** The worker of an instance: at most one. */
import type { Platform } from '../platform/platform.ts';
import type { WorkerProcess } from '../workers/process/process.ts';
import { stoppedError } from './start-error.ts';

export type Worker = {
  /** Resolves when it can claim jobs. After a failure it may be called again. */
  start(): Promise<void>;
  /** Ends a start, too, that waits for the database. */
  stop(): Promise<void>;
};

export function openWorker({ startWorker }: Pick<Platform, 'startWorker'>): Worker {
  const stopping = new AbortController();
  let starting: Promise<WorkerProcess> | null = null;
  return {
    async start() {
      starting ??= startWorker(stopping.signal);
      try {
        await starting;
      } catch (error) {
        starting = null;
        throw error;
      }
    },
    async stop() {
      stopping.abort(stoppedError());
      const worker = await starting?.catch(() => null);
      await worker?.drain();
    },
  };
}
