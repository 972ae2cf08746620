/** The worker of an instance: at most one. */
import { ConfigError } from '../config/config.ts';
import { DatabaseRefused } from '../db/setup/database-refused.ts';
import type { Platform } from '../platform/platform.ts';
import type { WorkerProcess } from '../workers/process/process.ts';
import { NightshiftStartError, invalidOptions, stoppedError } from './start-error.ts';

export type Worker = {
  /** Resolves when it can claim jobs. After a failure it may be called again. */
  start(): Promise<void>;
  /** Ends a start, too, that waits for the database. */
  stop(): Promise<void>;
};

/** `faults`: why it cannot start; empty: it can. */
export function openWorker({ startWorker }: Pick<Platform, 'startWorker'>, faults: readonly string[]): Worker {
  const stopping = new AbortController();
  let starting: Promise<WorkerProcess> | null = null;
  return {
    async start() {
      if (faults.length > 0) throw invalidOptions('The options of createNightshift', faults);
      starting ??= startWorker({ signal: stopping.signal });
      try {
        await starting;
      } catch (error) {
        starting = null;
        throw toStartError(error);
      }
    },
    async stop() {
      stopping.abort(stoppedError());
      const worker = await starting?.catch(() => null);
      await worker?.drain();
    },
  };
}

/** The tools have no database, or one that cannot be used. */
function toStartError(error: unknown): unknown {
  if (error instanceof ConfigError) return invalidOptions('The options of createNightshift', error.faults);
  if (error instanceof DatabaseRefused)
    return new NightshiftStartError('database_refused', error.message, { cause: error });
  return error;
}
