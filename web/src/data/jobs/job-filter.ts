/** What lists of jobs are filtered and sorted by. */
import type { Job, Json } from 'nightshift/client';

export type JobStatus = Job['status'];
/** The statuses of a job that has not ended. */
export const UNFINISHED = ['delayed', 'queued', 'running', 'waiting'] as const satisfies JobStatus[];
/** What lists of jobs are sorted by; with `-` in front smallest, or oldest, first. */
export const JOB_ORDERS = ['created', 'cost', 'duration', 'tokens'] as const;
export type JobOrder = (typeof JOB_ORDERS)[number];
export type JobSort = JobOrder | `-${JobOrder}`;
export type JobFilter = {
  status?: JobStatus[];
  kind?: Job['kind'];
  role?: string;
  user?: string;
  /** The metadata of the job must contain it. */
  metadata?: { [name: string]: Json };
  context_id?: string;
  worker_id?: string;
  parent_job_id?: string;
  /** Text to find. */
  q?: string;
  sort?: JobSort;
  created_after?: string;
  created_before?: string;
  /** Created in so many milliseconds before the request; `created_after` would make another list of it each time. */
  within_ms?: number;
};
