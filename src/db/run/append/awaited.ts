/** Calls that wait for jobs of other workers: the waits that an append starts and ends, and the jobs that it ends. */
import { sql, type SQL } from 'drizzle-orm';
import { NONE_OWN, countdown } from '../../calls/awaited.ts';
import { columns } from '../../rows/recordset.ts';
import { fixed } from '../../rows/written-columns.ts';
import { awaitedJobs } from '../../schema/tool-calls.ts';
import type { EncodedAppend } from './contents.ts';
import { settledOf } from './jobs.ts';
import { insertion, joined } from './part.ts';

export const awaits = insertion('awaits', awaitedJobs, {
  of: ({ awaits: jobs }) => jobs,
  columns: {
    toolCallId: ({ callId }) => callId,
    jobId: ({ jobId }) => jobId,
    tenantId: sql`ctx.tenant_id`,
    contextId: sql`ctx.id`,
    workerId: ({ workerId }) => workerId,
    ordinal: ({ ordinal }) => ordinal,
  },
});

const endedJobs = joined(settledOf, columns({ id: ['uuid', ({ job }) => job.id] }), {
  before: 'ended as (select r.id, ctx.id as context_id, ctx.tenant_id from ',
  after: ')',
});

/** Calls that waited for workers and that the appends close. */
const ownCalls = joined(({ released }) => released, columns({ id: ['uuid', (id: string) => id] }), {
  before: 'own_calls as (select r.id from ',
  after: ')',
});

const NO_CALLS = sql.raw(`own_calls as ${fixed(NONE_OWN)}`);
const COUNTDOWN = sql.raw(fixed(countdown(sql`ended`, sql`own_calls`)));

/**
 * Counts down calls of other contexts that wait for the jobs ending here. Runs before any part that changes a call.
 * `engaged`: see `append`.
 */
export function countdownPart(appends: readonly EncodedAppend[], engaged: boolean): SQL {
  return sql`${endedJobs(appends)}, ${engaged ? ownCalls(appends) : NO_CALLS}, ${COUNTDOWN}`;
}

/** Deletes the awaited jobs of closed calls. */
export const awaitedNoMore: SQL = sql`awaited_no_more as (
      delete from awaited_jobs a using own_calls o where a.tool_call_id = o.id
    )`;
