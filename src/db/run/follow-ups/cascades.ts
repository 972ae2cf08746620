/** Cascades: everything below a job that is stopped, or below a worker that is stopped, ends with it. */
import { sql, type SQL } from 'drizzle-orm';
import type { Actor } from '../../../core/access/actor.ts';
import type { ContextId, JobId, TenantId, WorkerId } from '../../../core/ids.ts';
import type { StopKind } from '../../../core/run/job.ts';
import type { Executor } from '../../connection/client.ts';
import { hasChildWorkers } from './ends.ts';

/** Everything below the job (`stop`: below its worker) ends with it. */
export type Cascade = {
  kind: 'cascade';
  tenantId: TenantId;
  jobId: JobId;
  stopKind: StopKind;
  /** Who requested the stop; null: not known. */
  by: Actor | null;
  workerId: WorkerId;
  contextId: ContextId;
};

export async function findCascades(executor: Executor, most: number): Promise<Cascade[]> {
  return executor.execute<Cascade>(sql`/* follow_ups.find_cascades */
    select 'cascade' as kind, j.tenant_id as "tenantId", j.id as "jobId", j.cascade as "stopKind",
      j.stop_actor as by,
      j.worker_id as "workerId", j.context_id as "contextId"
    from jobs j where j.cascade is not null order by j.id limit ${most}`);
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
export async function jobsBelow(tx: Executor, tenantId: TenantId, of: JobId, contextId: ContextId): Promise<JobId[]> {
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
  return executor.execute<{ id: WorkerId; contextId: ContextId }>(sql`/* workers.list_below */
    with recursive tree as (
      select id, context_id, depth from workers
      where parent_worker_id = ${above} and tenant_id = ${tenantId} and not detached
      union all
      select w.id, w.context_id, w.depth from workers w join tree on w.parent_worker_id = tree.id
      where w.tenant_id = ${tenantId} and not w.detached
    )
    select tree.id, tree.context_id as "contextId" from tree join contexts c on c.id = tree.context_id
    where c.stopped = ${stopped}::boolean order by tree.depth, tree.id limit ${most}`);
}

/** Queued jobs of a context that workers requested. The caller has locked the context's row. */
export async function askedByWorkers(tx: Executor, tenantId: TenantId, contextId: ContextId): Promise<JobId[]> {
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
export async function cascaded(executor: Executor, { tenantId, jobId, stopKind }: Cascade): Promise<void> {
  await executor.execute(sql`/* jobs.finish_cascade */
    update jobs set cascade = null where id = ${jobId} and tenant_id = ${tenantId} and cascade = ${stopKind}`);
}
