/**
 * Follow-ups (a transactional outbox): effects of a job's end on other contexts, recorded by the commit that ends the
 * job (see ends.ts). The process that carries one out may die halfway, and two processes may do so at once. So each
 * part is a transaction that reads the state again, and the record is removed last.
 */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Block } from '../../core/conversation/blocks.ts';
import type { JobError } from '../../core/errors.ts';
import type { ContextId, JobId, TenantId, WorkerId } from '../../core/ids.ts';
import type { FinishedStatus, StopKind } from '../../core/run/job.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { hasChildWorkers } from './ends.ts';

type OfJob = { tenantId: TenantId; jobId: JobId };

export type FollowUp =
  /** Everything below the job (`stop`: below its worker) ends with it. */
  | (OfJob & { kind: 'cascade'; stopKind: StopKind; workerId: WorkerId; contextId: ContextId })
  /** The parent notice goes to the context `to`, which requested the job; null: it is no longer needed. */
  | (OfJob & { kind: 'parent_notice'; to: ContextId | null });

/**
 * Follow-ups that can be carried out now, at most `most` of each kind. A parent notice waits while its receiver is
 * stopped or has `queueLimit` or more queued inputs, and while a call of the receiver waits for that job to end.
 */
export async function dueFollowUps(
  executor: Executor,
  most: number,
  queueLimit: number,
): Promise<FollowUp[]> {
  const [cascades, notices] = await Promise.all([
    executor.execute<{
      id: JobId;
      tenant_id: TenantId;
      worker_id: WorkerId;
      context_id: ContextId;
      cascade: StopKind;
    }>(sql`/* follow_ups.find_cascades */
      select j.id, j.tenant_id, j.worker_id, j.context_id, j.cascade from jobs j where j.cascade is not null
      order by j.id limit ${most}`),
    executor.execute<{
      id: JobId;
      tenant_id: TenantId;
      to: ContextId | null;
    }>(sql`/* follow_ups.find_parent_notices */
      select j.id, j.tenant_id, c.id as to from jobs j
      left join tool_calls t on t.id = j.parent_tool_call_id and t.tenant_id = j.tenant_id
      left join contexts c on c.id = t.context_id and not ${isVoid}
      where j.parent_notice = 'due'
        and (c.id is null or not c.stopped and c.queued + c.steers < ${queueLimit} and not ${isAwaited(sql`c.id`)})
      order by j.id limit ${most}`),
  ]);
  return [
    ...cascades.map((row): FollowUp => ({
      kind: 'cascade',
      tenantId: row.tenant_id,
      jobId: row.id,
      stopKind: row.cascade,
      workerId: row.worker_id,
      contextId: row.context_id,
    })),
    ...notices.map((row): FollowUp => ({
      kind: 'parent_notice',
      tenantId: row.tenant_id,
      jobId: row.id,
      to: row.to,
    })),
  ];
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

/**
 * Jobs with `j.parent_job_id = of` that end with it: unfinished, without a stop request, and not of a detached worker.
 */
function below(tenantId: TenantId, of: JobId): SQL {
  return sql`jobs j join workers w on w.id = j.worker_id and not w.detached
    where j.parent_job_id = ${of} and j.tenant_id = ${tenantId} and j.finished_at is null and j.stop_kind is null`;
}

/** Contexts that have such jobs. */
export async function contextsBelow(
  executor: Executor,
  tenantId: TenantId,
  of: JobId,
  most: number,
): Promise<ContextId[]> {
  const rows = await executor.execute<{ context_id: ContextId }>(
    sql`select distinct j.context_id from ${below(tenantId, of)} limit ${most}`,
  );
  return rows.map((row) => row.context_id);
}

/** Such jobs of one context. The caller has locked its row. */
export async function jobsBelow(
  tx: Executor,
  tenantId: TenantId,
  of: JobId,
  contextId: ContextId,
): Promise<JobId[]> {
  const rows = await tx.execute<{ id: JobId }>(
    sql`select j.id from ${below(tenantId, of)} and j.context_id = ${contextId} order by j.position, j.id`,
  );
  return rows.map((row) => row.id);
}

/** Attached workers below `above` whose `stopped` is as given, nearest first, at most `most`. */
export async function workersBelow(
  executor: Executor,
  tenantId: TenantId,
  above: WorkerId,
  { stopped, most }: { stopped: boolean; most: number },
): Promise<{ id: WorkerId; contextId: ContextId }[]> {
  const rows = await executor.execute<{ id: WorkerId; context_id: ContextId }>(sql`/* workers.list_below */
    with recursive tree as (
      select id, context_id, depth from workers
      where parent_worker_id = ${above} and tenant_id = ${tenantId} and not detached
      union all
      select w.id, w.context_id, w.depth from workers w join tree on w.parent_worker_id = tree.id
      where w.tenant_id = ${tenantId} and not w.detached
    )
    select tree.id, tree.context_id from tree join contexts c on c.id = tree.context_id
    where c.stopped = ${stopped}::boolean order by tree.depth, tree.id limit ${most}`);
  return rows.map((row) => ({ id: row.id, contextId: row.context_id }));
}

/** Queued jobs of a context that workers requested. The caller has locked the context's row. */
export async function askedByWorkers(
  tx: Executor,
  tenantId: TenantId,
  contextId: ContextId,
): Promise<JobId[]> {
  const rows = await tx.execute<{ id: JobId }>(sql`
    select id from jobs where context_id = ${contextId} and tenant_id = ${tenantId} and status = 'queued'
      and parent_job_id is not null order by position, id`);
  return rows.map((row) => row.id);
}

/**
 * Whether a worker is stopped, so that the workers below it must stop too. A share lock keeps it so until the
 * transaction ends.
 */
export async function lockStopped(tx: Executor, workerId: WorkerId): Promise<boolean> {
  const [row] = await tx.execute<{ stopped: boolean }>(sql`/* contexts.lock_stopped */
    select c.stopped from workers w join contexts c on c.id = w.context_id where w.id = ${workerId} for share of c`);
  return row?.stopped ?? false;
}

/**
 * Records, on the newest job of a worker, that the workers below it must stop. The caller has locked the context's row.
 * False: no worker is below it, or it never had a job to record this on.
 */
export async function markStop(tx: Executor, tenantId: TenantId, contextId: ContextId): Promise<boolean> {
  const rows = await tx.execute(sql`/* jobs.mark_cascade */
    update jobs j set cascade = 'stop'
    where j.id = (select k.id from jobs k where k.context_id = ${contextId} and k.tenant_id = ${tenantId}
        order by k.id desc limit 1)
      and ${hasChildWorkers(sql`j.worker_id`)}
    returning j.id`);
  return rows.length > 0;
}

/** The worker was started again before all workers below it were stopped. The caller has locked the context's row. */
export async function unmarkStop(tx: Executor, tenantId: TenantId, contextId: ContextId): Promise<void> {
  await tx.execute(sql`/* jobs.unmark_cascade */
    update jobs set cascade = null
    where context_id = ${contextId} and tenant_id = ${tenantId} and cascade = 'stop'`);
}

/** Nothing is left below: removes the record, unless it has changed since. */
export async function cascaded(
  executor: Executor,
  { tenantId, jobId, stopKind }: Extract<FollowUp, { kind: 'cascade' }>,
): Promise<void> {
  await executor.execute(sql`/* jobs.finish_cascade */
    update jobs set cascade = null where id = ${jobId} and tenant_id = ${tenantId} and cascade = ${stopKind}`);
}

/** How a job ended, for the parent that requested it. */
export type Ending = {
  workerId: WorkerId;
  workerName: string;
  status: FinishedStatus;
  output: Block[];
  error: JobError | null;
  reason: string | null;
  hops: number;
};

/**
 * Clears a due parent notice, so that no other process delivers it. The caller has locked the receiving context's row,
 * so a result that its run collects is not delivered twice. Null: the notice is no longer due, or a call waits for the
 * job.
 */
export async function takeParentNotice(
  tx: Executor,
  { tenantId, jobId }: OfJob,
  to: ContextId | null,
): Promise<Ending | null> {
  const [row] = await tx.execute<{
    worker_id: WorkerId;
    name: string;
    status: FinishedStatus;
    output: Block[] | null;
    error: JobError | null;
    reason: string | null;
    hops: number;
  }>(sql`/* jobs.take_parent_notice */
    update jobs j set parent_notice = null
    from workers w
    where j.id = ${jobId} and j.tenant_id = ${tenantId} and j.parent_notice = 'due' and w.id = j.worker_id
      and (${to}::uuid is null or not ${isAwaited(sql`${to}::uuid`)})
    returning j.worker_id, w.name, j.status, j.error, j.stop_reason as reason, j.hops,
      (select m.content from messages m where m.id = j.output_message_id) as output`);
  if (row === undefined) return null;
  return {
    workerId: row.worker_id,
    workerName: row.name,
    status: row.status,
    output: row.output ?? [],
    error: row.error,
    reason: row.reason,
    hops: row.hops,
  };
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
export async function hasReports(
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
export async function dropReports(
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
