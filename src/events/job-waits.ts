/**
 * Long polls: requests that wait for a job to end. The bus reports the end at once but may lose the message, so the
 * stream hub also asks PostgreSQL.
 */
import type { JobEnd } from '../bus/bus.ts';
import type { JobId, TenantId } from '../core/ids.ts';
import { keyOf } from '../db/read/messages/event-views.ts';

export type Watched = { tenantId: TenantId; jobId: JobId };

export type Watch = {
  /**
   * Resolves when the job has ended or was deleted, after `ms`, on `signal`, or when the process closes. Never rejects.
   */
  ended(ms: number, signal: AbortSignal): Promise<void>;
  /** Must always be called. */
  stop(): void;
};

type Waiting = Watched & { send: () => void };

export class JobWaits {
  readonly #waiting = new Map<JobId, Set<Waiting>>();
  #closed = false;

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  get jobs(): Watched[] {
    return this.#all();
  }

  /**
   * `hasEnded` is asked once, when the watch has begun, so that an end in between is not missed. If it fails, the watch
   * resolves: its request fails now, not at the end of its wait.
   */
  watch(job: Watched, hasEnded: () => Promise<boolean>): Watch {
    const { promise, resolve } = Promise.withResolvers<void>();
    const one: Waiting = { ...job, send: resolve };
    const ofJob = this.#waiting.get(job.jobId) ?? new Set();
    this.#waiting.set(job.jobId, ofJob.add(one));
    if (this.#closed) resolve();
    hasEnded().then((ended) => ended && resolve(), resolve);
    return {
      ended: (ms, signal) => earliest(promise, ms, signal),
      stop: () => {
        ofJob.delete(one);
        if (ofJob.size === 0) this.#waiting.delete(job.jobId);
      },
    };
  }

  /** The bus reports the end of a job. */
  take({ jobId }: JobEnd): void {
    for (const one of this.#waiting.get(jobId) ?? []) one.send();
  }

  /** `ended`: keys of the jobs that have ended, by `keyOf`. */
  send(ended: ReadonlySet<string>): void {
    if (ended.size === 0) return;
    for (const one of this.#all()) if (ended.has(keyOf(one.tenantId, one.jobId))) one.send();
  }

  close(): void {
    this.#closed = true;
    for (const one of this.#all()) one.send();
  }

  #all(): Waiting[] {
    return [...this.#waiting.values()].flatMap((ofJob) => [...ofJob]);
  }
}

/** Resolves on the end of the job, the timeout or the abort, whichever comes first. */
async function earliest(jobEnded: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const onAbort = (): void => resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) resolve();
  try {
    await Promise.race([jobEnded, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
