/**
 * Waits for jobs to end, for all requests of this process at once. The bus says so at once but may say nothing, so
 * Postgres is asked once a second, in one query for all; while nobody waits, nothing is asked and nothing is heard.
 *
 * A watch begins before its job is read: an end that comes between is not missed.
 */
import { progressOf } from '../bus/bus.ts';
import type { Bus } from '../bus/bus.ts';
import type { ContextId, JobId, TenantId } from '../core/ids.ts';
import type { Database } from '../db/client.ts';
import { endedAmong } from '../db/job-views.ts';

export type Watched = { tenantId: TenantId; contextId: ContextId; jobId: JobId };

export type Watch = {
  /** Resolves when the job ended or is gone, after `ms`, on `signal`, or when the process closes. Never rejects. */
  ended(ms: number, signal: AbortSignal): Promise<void>;
  /** Must be called, whatever happened. */
  stop(): void;
};

export type Waiter = {
  watch(job: Watched): Promise<Watch>;
  /** Ends all waits, and those to come. */
  close(): void;
};

const ASK_MS = 1_000;

type Waiting = Watched & { tell: () => void };

export function openWaiter(database: Database, bus: Bus): Waiter {
  const waiting = new Set<Waiting>();
  let timer: NodeJS.Timeout | null = null;
  let asking = false;
  let closed = false;

  const ask = async (): Promise<void> => {
    timer = null;
    asking = true;
    const asked = [...waiting];
    // Postgres may be away: whoever waits goes on waiting, and is told when they read.
    const ended = await endedAmong(database.db, asked).catch(() => new Set<JobId>());
    for (const one of asked) if (ended.has(one.jobId)) one.tell();
    asking = false;
    schedule();
  };
  const schedule = (): void => {
    if (timer !== null || asking || closed || waiting.size === 0) return;
    timer = setTimeout(() => void ask(), ASK_MS);
  };

  return {
    async watch(job) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const unsubscribe = await bus.subscribe(progressOf(job.contextId), ({ finished }) => {
        if (finished?.jobId === job.jobId) resolve();
      });
      const one: Waiting = { ...job, tell: resolve };
      waiting.add(one);
      if (closed) resolve();
      return {
        ended(ms, signal) {
          schedule();
          return earliest(promise, ms, signal);
        },
        stop() {
          waiting.delete(one);
          unsubscribe();
          if (waiting.size > 0 || timer === null) return;
          clearTimeout(timer);
          timer = null;
        },
      };
    },
    close() {
      closed = true;
      for (const one of waiting) one.tell();
    },
  };
}

/** Resolves with the first of all. */
async function earliest(told: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const onAbort = (): void => resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) resolve();
  try {
    await Promise.race([told, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
