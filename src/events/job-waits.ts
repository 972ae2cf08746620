/**
 * Long polls: requests that wait for a job to end. The bus reports the end at once but may lose the message, so the
 * stream hub also asks PostgreSQL. A watch begins before its job is read, so that an end in between is not missed.
 */
import { progressOf, type Bus } from '../bus/bus.ts';
import type { ContextId, JobId, TenantId } from '../core/ids.ts';
import { keyOf } from '../db/read/messages/event-views.ts';

export type Watched = { tenantId: TenantId; contextId: ContextId; jobId: JobId };

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
  readonly #bus: Bus;
  readonly #waiting = new Set<Waiting>();
  #closed = false;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  get jobs(): Watched[] {
    return [...this.#waiting];
  }

  async watch(job: Watched): Promise<Watch> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const unsubscribe = await this.#bus.subscribe(progressOf(job.contextId), ({ finished }) => {
      if (finished?.jobId === job.jobId) resolve();
    });
    const one: Waiting = { ...job, send: resolve };
    this.#waiting.add(one);
    if (this.#closed) resolve();
    return {
      ended: (ms, signal) => earliest(promise, ms, signal),
      stop: () => {
        this.#waiting.delete(one);
        unsubscribe();
      },
    };
  }

  /** `ended`: keys of the jobs that have ended, by `keyOf`. */
  send(ended: ReadonlySet<string>): void {
    for (const one of this.#waiting) if (ended.has(keyOf(one.tenantId, one.jobId))) one.send();
  }

  close(): void {
    this.#closed = true;
    for (const one of this.#waiting) one.send();
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
