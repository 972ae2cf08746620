/** Jobs: read, waited for, cancelled. */
import { NightshiftError } from '../errors.ts';
import { pagesOf } from '../pages.ts';
import { backoff, pause } from '../pause.ts';
import type { JobOf } from '../output.ts';
import type { CancelJob, CancelJobs, Job, Json, Operations, RetryJobs } from '../schema.ts';
import type { Request, RequestOptions } from '../transport.ts';

/** How long to wait for a job, and for what. */
export type WaitOptions = {
  /** When it aborts, the promise rejects with its reason; the job continues. */
  signal?: AbortSignal;
  /** Total timeout in milliseconds; then the promise rejects with `timed_out`. Default: no timeout. */
  timeoutMs?: number;
  /** `waiting`: also resolves when the job waits for a person or a client. Default: `end`. */
  until?: 'end' | 'waiting';
};

/** How long one poll waits, in milliseconds. */
const POLL_MS = 30_000;

export function jobCalls(request: Request) {
  return {
    /** Reads a job; with `wait_ms`, waits for it to finish, or to wait for a person. `T`: the type of `output.data`. */
    get: async <T = Json>(
      id: string,
      query: Operations['GET /api/jobs/{id}']['query'] = {},
      options?: RequestOptions,
    ): Promise<JobOf<T>> => ofType(await request('GET', '/api/jobs/{id}', { path: { id }, query, ...options })),
    /** Jobs that match a filter, newest first. */
    list: (query: Operations['GET /api/jobs']['query'] = {}, options?: RequestOptions) =>
      pagesOf((more) => request('GET', '/api/jobs', { query: { ...query, ...more }, ...options })),
    /**
     * Resolves with the finished job, whatever its status; with `until`, also with one that waits. Retries while the API is
     * unavailable. `T`: the type of `output.data`.
     */
    wait: <T = Json>(id: string, options?: WaitOptions) => waitForJob<T>(request, id, options),
    /** Cancels a job; of a finished job, returns its status. */
    cancel: (id: string, body: CancelJob = {}, options?: RequestOptions) =>
      request('POST', '/api/jobs/{id}/cancel', { path: { id }, body, ...options }),
    /** Cancels all unfinished jobs that match a filter. */
    cancelAll: (body: CancelJobs, options?: RequestOptions) =>
      request('POST', '/api/jobs/cancel', { body, ...options }),
    /**
     * Retries jobs that ended without completing, by `ids` or by `filter`. Returns what happened to each; with `dry_run`
     * what would happen. `next_cursor`: more jobs match the filter.
     */
    retryAll: (body: RetryJobs, options?: RequestOptions) => request('POST', '/api/jobs/retry', { body, ...options }),
    /** The timeline of a job: model calls, tool calls and waits. */
    steps: (id: string, query: Operations['GET /api/jobs/{id}/steps']['query'] = {}, options?: RequestOptions) =>
      pagesOf((more) =>
        request('GET', '/api/jobs/{id}/steps', { path: { id }, query: { ...query, ...more }, ...options }),
      ),
    /**
     * What the tools of a job wrote to their logs, oldest first. `after`: the id of the last entry that is known; later
     * calls with it find what was added since.
     */
    logs: (id: string, query: Operations['GET /api/jobs/{id}/logs']['query'] = {}, options?: RequestOptions) =>
      pagesOf((more) =>
        request('GET', '/api/jobs/{id}/logs', { path: { id }, query: { ...query, ...more }, ...options }),
      ),
    /** The prompt of one model call. `n` as in the step, from 1. */
    prompt: (id: string, n: number, options?: RequestOptions) =>
      request('GET', '/api/jobs/{id}/steps/{n}/prompt', { path: { id, n }, ...options }),
  };
}

export async function waitForJob<T>(
  request: Request,
  id: string,
  { signal, timeoutMs = Infinity, until = 'end' }: WaitOptions = {},
): Promise<JobOf<T>> {
  const end = performance.now() + timeoutMs;
  for (let failures = 0; ;) {
    const left = end - performance.now();
    if (left <= 0)
      throw new NightshiftError('timed_out', `Job ${id} did not finish within ${timeoutMs} ms. It continues to run.`);
    try {
      const query = { wait_ms: Math.ceil(Math.min(POLL_MS, left)), until };
      const options = signal === undefined ? {} : { signal };
      const job = await request('GET', '/api/jobs/{id}', { path: { id }, query, ...options, retries: 0 });
      if (isFinished(job) || (until === 'waiting' && asks(job))) return ofType<T>(job);
      failures = 0;
    } catch (error) {
      if (!isAway(error)) throw error;
      await pause(Math.min(backoff(failures, 250, 10_000), Math.max(0, end - performance.now())), signal);
      failures += 1;
    }
  }
}

/** The API has checked the data by the schema of the job, whose type the caller names. */
function ofType<T>(job: Job): JobOf<T> {
  return job as JobOf<T>;
}

/** Whether a job has ended, with whatever result. */
export function isFinished({ status }: Pick<Job, 'status'>): boolean {
  return status !== 'delayed' && status !== 'queued' && status !== 'running' && status !== 'waiting';
}

/** Whether a person or a client is asked. */
function asks({ waiting_for }: Job): boolean {
  return waiting_for.some(({ kind }) => kind === 'approval' || kind === 'input');
}

/** Whether a retry may succeed. */
function isAway(error: unknown): boolean {
  if (!(error instanceof NightshiftError)) return false;
  const { code, status } = error;
  return code === 'unreachable' || code === 'timed_out' || status === 429 || (status ?? 0) >= 500;
}
