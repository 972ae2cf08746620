/**
 * Which jobs can be retried: those that ended without completing, and whose history has not gone on since. So no job is
 * retried twice: its retry is a later job of the same branch, queued or begun.
 */
import type { ContextId, JobId } from '../ids.ts';
import type { JobKind, JobStatus } from './job.ts';

/** Statuses of jobs that can be retried. */
export const RETRIABLE_STATUSES = ['failed', 'incomplete', 'cancelled', 'interrupted'] as const;
export type RetriableStatus = (typeof RETRIABLE_STATUSES)[number];

export const RETRY_REFUSALS = [
  'not_found',
  'not_ended',
  'completed',
  'compaction',
  'input_missing',
  'context_busy',
  'superseded',
  'worker_stopped',
  'queue_full',
  'quota_exceeded',
] as const;
export type RetryRefusalCode = (typeof RETRY_REFUSALS)[number];

/** Why a job is not retried. */
export type RetryRefusal = { code: RetryRefusalCode; message: string };

/** What decides whether a job can be retried. */
export type RetryFacts = {
  jobId: JobId;
  contextId: ContextId;
  kind: JobKind;
  status: JobStatus;
  branch: string;
  /** Its branch exists and still reads its input, or where it began. */
  isInHistory: boolean;
  /** A job of its branch is queued, running or waiting. */
  isBusy: boolean;
  /** A later job of its branch has begun, other than a compaction. */
  isSuperseded: boolean;
  /** Its worker is stopped. */
  isStopped: boolean;
};

/** Null: it can be retried now. */
export function whyNotRetried(facts: RetryFacts): RetryRefusal | null {
  const { kind, branch } = facts;
  if (kind === 'compact') return { code: 'compaction', message: 'A compaction cannot be retried.' };
  const ofStatus = refusalOfStatus(facts);
  if (ofStatus !== null) return ofStatus;
  if (!facts.isInHistory)
    return {
      code: 'input_missing',
      message: `Its input is no longer in the history of branch ${branch}. Send it again as a new message.`,
    };
  if (facts.isSuperseded)
    return {
      code: 'superseded',
      message: `A later job began on branch ${branch}, so its history has gone on. Retry the latest job, or send the input again.`,
    };
  if (facts.isBusy)
    return { code: 'context_busy', message: `Another job of branch ${branch} is unfinished. Wait until it has ended.` };
  if (facts.isStopped) return { code: 'worker_stopped', message: 'The worker is stopped. Start it first.' };
  return null;
}

function refusalOfStatus({ status }: RetryFacts): RetryRefusal | null {
  switch (status) {
    case 'delayed':
    case 'queued':
    case 'running':
    case 'waiting':
      return { code: 'not_ended', message: `It has not ended (${status}). Cancel it first.` };
    case 'completed':
      return { code: 'completed', message: 'It is completed. Send its input again as a new message.' };
    case 'failed':
    case 'incomplete':
    case 'cancelled':
    case 'interrupted':
      return null;
  }
}

export function noSuchJob(jobId: string): RetryRefusal {
  return { code: 'not_found', message: `No job has the id ${jobId}.` };
}
