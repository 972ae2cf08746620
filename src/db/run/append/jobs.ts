/** The job of an append: it starts, continues or ends. */
import { sql } from 'drizzle-orm';
import type { JobError } from '../../../core/errors.ts';
import type { CallFailure } from '../../../core/run/job.ts';
import type { Throttled } from '../../../core/run/throttle.ts';
import type { Append, JobChange } from '../../../core/run/append.ts';
import { usageAdded, usageOf } from '../../model-calls/usage.ts';
import type { Columns } from '../../rows/recordset.ts';
import type { Changed } from '../../rows/written-columns.ts';
import { branches } from '../../schema/branches.ts';
import { jobs } from '../../schema/jobs.ts';
import { cascadeOnceEnded, hasFollowUp, noticeOnceEnded } from '../follow-ups/ends.ts';
import { update } from './part.ts';

type Settled = Extract<JobChange, { kind: 'settle' }>;

function changesOf({ job }: Append): JobChange[] {
  return job === null ? [] : [job];
}

export function settledOf({ job }: Append): Settled[] {
  return job?.kind === 'settle' ? [job] : [];
}

/** Columns that change with every job that runs. */
const PROGRESS: Changed<typeof jobs, JobChange> = {
  status: (change) => (change.kind === 'settle' ? change.outcome.status : change.job.status),
  turn: ({ job }) => job.turn,
  attempt: ({ job }) => job.attempt,
  failures: ({ job }) => job.failures,
  retryAt: (change) => (change.kind === 'settle' ? null : change.job.retryAt),
  steps: ({ job }) => job.steps,
  corrections: ({ job }) => job.corrections,
  ...usageOf(({ job }: JobChange) => job.usage),
  error: errorOf,
  firstSeq: sql`case when r.admitted then ctx.base else j.first_seq end`,
  startedAt: sql`coalesce(j.started_at, statement_timestamp())`,
};

function errorOf(change: JobChange): JobError | CallFailure | Throttled | null {
  if (change.kind !== 'settle') return change.job.lastFailure;
  return 'error' in change.outcome ? change.outcome.error : null;
}

const INPUTS: Columns<JobChange> = {
  id: ['uuid', ({ job }) => job.id],
  admitted: ['boolean', ({ kind }) => kind === 'admit'],
};
const UNFINISHED = sql`j.id = r.id and j.context_id = ctx.id and j.finished_at is null`;

/** Used when no job of the batch ends: columns about the end stay unchanged. */
export const continuedJobs = update('changed_jobs', jobs, {
  of: changesOf,
  as: 'j',
  inputs: INPUTS,
  columns: PROGRESS,
  where: UNFINISHED,
});

/** Used when some jobs of the batch end. */
export const changedJobs = update('changed_jobs', jobs, {
  of: changesOf,
  as: 'j',
  inputs: { ...INPUTS, finished: ['boolean', ({ kind }) => kind === 'settle'] },
  columns: {
    ...PROGRESS,
    outputMessageId: (change) =>
      change.kind === 'settle' && 'outputId' in change.outcome ? change.outcome.outputId : null,
    hasData: (change) => change.kind === 'settle' && 'hasData' in change.outcome,
    lastSeq: sql`case when r.finished then ctx.head_seq end`,
    finishedAt: sql`case when r.finished then statement_timestamp() end`,
    stopDeliveredAt: {
      of: ({ kind, job }) => (kind === 'settle' ? (job.stopRequest?.deliveredAt ?? null) : null),
      as: (given, stored) => sql`case when r.finished and j.stop_kind is not null
        then coalesce(${given}, ${stored}) else ${stored} end`,
    },
    stoppedAt: sql`case when r.finished and j.stop_kind is not null then statement_timestamp() end`,
    parentNotice: noticeOnceEnded(sql`r.finished`),
    cascade: sql`case when not r.finished then j.cascade
      else ${cascadeOnceEnded(sql`r.status`, sql`ctx.stopped`)} end`,
  },
  where: UNFINISHED,
  returning: sql`j.context_id, r.finished and ${hasFollowUp} as follow_up`,
});

/** Adds an ended job to its branch. Its earlier rows are stored; the rows of this append are counted in `ctx`. */
export const branchCounters = update('branch_counters', branches, {
  of: settledOf,
  as: 'b',
  inputs: { id: ['uuid', ({ job }) => job.id] },
  columns: {
    messageCount: sql`b.message_count + ctx.messages + (
      select count(*) from messages m where m.context_id = ctx.id and m.branch = ctx.branch and m.seq > j.first_seq
        and m.job_id = j.id and m.status = 'completed')`,
    requestCount: {
      of: ({ job }) => job.steps,
      as: (given, stored) => sql`${stored} + ${given} + (
        select count(*) from compactions k where k.context_id = ctx.id and k.branch = ctx.branch and k.seq > j.first_seq
          and k.job_id = j.id and k.model is not null)`,
    },
    ...usageAdded(({ job }: Settled) => job.usage),
  },
  join: sql`join jobs j on j.id = r.id and j.finished_at is null`,
  where: sql`b.context_id = ctx.id and b.name = ctx.branch`,
});
