/** The worker of an instance: at most one. */
import type { Platform } from '../platform/platform.ts';
import type { WorkerProcess } from '../workers/process/process.ts';

export type Worker = {
  /** Resolves when it can claim jobs. After a failure it may be called again. */
  start(): Promise<void>;
  stop(): Promise<void>;
};

export function openWorker({ startWorker }: Pick<Platform, 'startWorker'>): Worker {
  let starting: Promise<WorkerProcess> | null = null;
  return {
    async start() {
      starting ??= startWorker();
      try {
        await starting;
      } catch (error) {
        starting = null;
        throw error;
      }
    },
    async stop() {
      const worker = await starting?.catch(() => null);
      await worker?.drain();
    },
  };
}
