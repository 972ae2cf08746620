/** Parent notices: a worker that requested a job learns how it ended, by an input to its context. */
import { sql, type SQL } from 'drizzle-orm';
import type { Block } from '../../../core/conversation/blocks.ts';
import type { JobError } from '../../../core/errors.ts';
import type { ContextId, JobId, TenantId, WorkerId } from '../../../core/ids.ts';
import type { FinishedStatus } from '../../../core/run/job.ts';
import type { User } from '../../../core/access/user.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';

/** The parent notice goes to the context `to`, which requested the job; null: it is no longer needed. */
export type ParentNotice = { kind: 'parent_notice'; tenantId: TenantId; jobId: JobId; to: ContextId | null };

/**
 * Due notices, at most `most`. A notice waits while its receiver is stopped or has `queueLimit` or more queued inputs,
 * and while a call of the receiver waits for that job to end.
 */
export async function findParentNotices(executor: Executor, most: number, queueLimit: number): Promise<ParentNotice[]> {
  return executor.execute<ParentNotice>(sql`/* follow_ups.find_parent_notices */
    select 'parent_notice' as kind, j.tenant_id as "tenantId", j.id as "jobId", c.id as to from jobs j
    left join tool_calls t on t.id = j.parent_tool_call_id and t.tenant_id = j.tenant_id
    left join contexts c on c.id = t.context_id and not ${isVoid}
    where j.parent_notice = 'due'
      and (c.id is null or not c.stopped and c.queued + c.steers < ${queueLimit} and not ${isAwaited(sql`c.id`)})
    order by j.id limit ${most}`);
}

/**
 * The job that requested `j` through the call `t` was cancelled or interrupted, and `j` with it: the notice is void.
 */
const isVoid: SQL = sql`((
  select true from jobs q join workers w on w.id = j.worker_id and not w.detached
  where q.id = t.job_id and q.status in ('cancelled', 'interrupted') limit 1) is not null)`;

/** Whether a call of a context waits for the end of job `j`: its result then includes the outcome. */
function isAwaited(contextId: SQL): SQL {
  return sql`((
    select true from awaited_jobs a join tool_calls w on w.id = a.tool_call_id and w.status = 'waiting'
    where a.job_id = j.id and a.context_id = ${contextId} limit 1) is not null)`;
}

/** How a job ended, for the parent that requested it. */
type Ending = {
  workerId: WorkerId;
  workerName: string;
  status: FinishedStatus;
  output: Block[];
  error: JobError | null;
  reason: string | null;
  hops: number;
  /** On whose behalf it ran. */
  user: User | null;
};

/**
 * Clears a due parent notice, so that no other process delivers it. The caller has locked the receiving context's row,
 * so a result that its run collects is not delivered twice. Null: the notice is no longer due, or a call waits for the
 * job.
 */
export async function takeParentNotice(
  tx: Executor,
  { tenantId, jobId }: Pick<ParentNotice, 'tenantId' | 'jobId'>,
  to: ContextId | null,
): Promise<Ending | null> {
  const [row] = await tx.execute<Omit<Ending, 'output'> & { output: Block[] | null }>(sql`/* jobs.take_parent_notice */
    update jobs j set parent_notice = null
    from workers w
    where j.id = ${jobId} and j.tenant_id = ${tenantId} and j.parent_notice = 'due' and w.id = j.worker_id
      and (${to}::uuid is null or not ${isAwaited(sql`${to}::uuid`)})
    returning j.worker_id as "workerId", w.name as "workerName", j.status, j.error, j.stop_reason as reason, j.hops,
      j.user_name as "user",
      (select m.content from messages m where m.id = j.output_message_id) as output`);
  return row === undefined ? null : { ...row, output: row.output ?? [] };
}

/**
 * Whether the parent notice of `j` goes to a context: one of its calls requested the job. Other waiters get no notice.
 */
function isNoticeTo(tenantId: TenantId, contextId: ContextId): SQL {
  return sql`((
    select true from tool_calls t where t.id = j.parent_tool_call_id and t.tenant_id = ${tenantId}
      and t.context_id = ${contextId} limit 1) is not null)`;
}

/** Whether a parent notice of any of these jobs is due to a context, or is already queued there as an input. */
export async function hasParentNotices(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  jobIds: readonly JobId[],
): Promise<boolean> {
  const rows = await executor.execute(sql`
    select 1 from jobs j where j.tenant_id = ${tenantId} and (
      j.id in (${idsIn(jobIds)}) and j.parent_notice = 'due' and ${isNoticeTo(tenantId, contextId)}
      or j.notice_of_job_id in (${idsIn(jobIds)}) and j.context_id = ${contextId} and j.status = 'queued') limit 1`);
  return rows.length > 0;
}

/**
 * Removes the due notices of these ended jobs to a context, because a call's result includes their outcome. Returns the
 * notices already queued there. The caller has locked the context's row.
 */
export async function dropParentNotices(
  tx: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  jobIds: readonly JobId[],
): Promise<JobId[]> {
  await tx.execute(sql`/* jobs.drop_parent_notices */
    update jobs j set parent_notice = null where j.tenant_id = ${tenantId} and j.id in (${idsIn(jobIds)}) and j.parent_notice = 'due'
      and ${isNoticeTo(tenantId, contextId)}`);
  const rows = await tx.execute<{ id: JobId }>(sql`
    select id from jobs where tenant_id = ${tenantId} and context_id = ${contextId} and status = 'queued'
      and notice_of_job_id in (${idsIn(jobIds)})`);
  return rows.map((row) => row.id);
}

function idsIn(jobIds: readonly JobId[]): SQL {
  return sql`select i::uuid from jsonb_array_elements_text(${encodeJson(jobIds)}::jsonb) i`;
}
