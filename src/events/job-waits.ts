/**
 * Long polls: requests that wait for a job to end, or to wait for a person. The bus reports both at once but may lose the
 * message, so the stream hub also asks PostgreSQL.
 */
import type { JobNews } from '../bus/bus.ts';
import type { JobId } from '../core/ids.ts';
import { watchKeyOf, type Watched } from '../db/read/jobs/watched-jobs.ts';

export type Watch = {
  /**
   * Resolves when the job has come so far or was deleted, after `ms`, on `signal`, or when the process closes. Never
   * rejects.
   */
  arrived(ms: number, signal: AbortSignal): Promise<void>;
  /** Must always be called. */
  stop(): void;
};

type Waiting = Watched & {
  send: () => void;
  /** Asks PostgreSQL, and sends if it is so. */
  look: () => void;
};

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
   * `hasArrived` is asked when the watch has begun, so that nothing in between is missed. If it fails, the watch resolves:
   * its request fails now, not at the end of its wait.
   */
  watch(job: Watched, hasArrived: () => Promise<boolean>): Watch {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => void hasArrived().then((arrived) => arrived && resolve(), resolve);
    const one: Waiting = { ...job, send: resolve, look };
    const ofJob = this.#waiting.get(job.jobId) ?? new Set();
    this.#waiting.set(job.jobId, ofJob.add(one));
    if (this.#closed) resolve();
    look();
    return {
      arrived: (ms, signal) => earliest(promise, ms, signal),
      stop: () => {
        ofJob.delete(one);
        if (ofJob.size === 0) this.#waiting.delete(job.jobId);
      },
    };
  }

  /** The bus reports that a job ended, or that it waits: only PostgreSQL knows whether for a person. */
  take({ jobId, status }: JobNews): void {
    for (const one of this.#waiting.get(jobId) ?? []) {
      if (status === 'ended') one.send();
      else if (one.until === 'waiting') one.look();
    }
  }

  /** `arrived`: keys of those that have come so far, by `watchKeyOf`. */
  send(arrived: ReadonlySet<string>): void {
    if (arrived.size === 0) return;
    for (const one of this.#all()) if (arrived.has(watchKeyOf(one))) one.send();
  }

  close(): void {
    this.#closed = true;
    for (const one of this.#all()) one.send();
  }

  #all(): Waiting[] {
    return [...this.#waiting.values()].flatMap((ofJob) => [...ofJob]);
  }
}

/** Resolves on the news of the job, the timeout or the abort, whichever comes first. */
async function earliest(arrived: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const onAbort = (): void => resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) resolve();
  try {
    await Promise.race([arrived, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
