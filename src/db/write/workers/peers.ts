/** Workers of the same tree: lookups for tools that address other workers. */
import { sql } from 'drizzle-orm';
import type { ContextId, JobId, TenantId, ToolCallId, WorkerId } from '../../../core/ids.ts';
import { NO_LIMITS, type TenantLimits } from '../../../core/access/quotas.ts';
import type { User } from '../../../core/access/user.ts';
import type { Executor } from '../../connection/client.ts';

/** The worker of a context. */
export type Self = {
  tenantId: TenantId;
  id: WorkerId;
  name: string;
  parentWorkerId: WorkerId | null;
  rootWorkerId: WorkerId;
};

/** Null: it no longer exists. */
export async function findSelf(
  executor: Executor,
  { tenantId, contextId }: { tenantId: TenantId; contextId: ContextId },
): Promise<Self | null> {
  const [row] = await executor.execute<Self>(sql`
    select tenant_id as "tenantId", id, name, parent_worker_id as "parentWorkerId",
      coalesce(root_worker_id, id) as "rootWorkerId"
    from workers where context_id = ${contextId} and tenant_id = ${tenantId}`);
  return row ?? null;
}

/** `isBelow`: it is a descendant of the asking worker. */
export type Found = { contextId: ContextId; isBelow: boolean };

/** Another worker of the same tree; null: none has this id. */
export async function findPeer(executor: Executor, self: Self, id: WorkerId): Promise<Found | null> {
  const [row] = await executor.execute<Found>(sql`/* workers.find_peer */
    with recursive up as (
      select w.parent_worker_id as id from workers w where w.id = ${id} and w.tenant_id = ${self.tenantId}
      union all
      select w.parent_worker_id from up join workers w on w.id = up.id and w.tenant_id = ${self.tenantId}
    )
    select w.context_id as "contextId", exists (select 1 from up where up.id = ${self.id}) as "isBelow" from workers w
    where w.id = ${id} and w.tenant_id = ${self.tenantId} and w.id <> ${self.id}
      and coalesce(w.root_worker_id, w.id) = ${self.rootWorkerId}`);
  return row ?? null;
}

/** The job that a call has created by sending a message; null: none yet. */
export async function sentBy(executor: Executor, tenantId: TenantId, toolCallId: ToolCallId): Promise<JobId | null> {
  const [row] = await executor.execute<{ id: JobId }>(
    sql`select id from jobs where parent_tool_call_id = ${toolCallId} and tenant_id = ${tenantId}`,
  );
  return row?.id ?? null;
}

/**
 * `hops`: the number of workers that have already forwarded the request. `user`: on whose behalf the job runs. `limits`:
 * those of its tenant.
 */
type SendingJob = { hops: number; user: User | null; limits: TenantLimits };

export async function sendingJob(executor: Executor, tenantId: TenantId, jobId: JobId): Promise<SendingJob> {
  const [row] = await executor.execute<SendingJob>(
    sql`select j.hops, j.user_name as "user", t.limits from jobs j join tenants t on t.id = j.tenant_id
      where j.id = ${jobId} and j.tenant_id = ${tenantId}`,
  );
  return row ?? { hops: 0, user: null, limits: NO_LIMITS };
}

/** The user of the worker of a context; null: the tenant has no such context. */
export async function findOwner(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
): Promise<{ user: User | null } | null> {
  const [row] = await executor.execute<{ user: User | null }>(
    sql`select user_name as "user" from workers where context_id = ${contextId} and tenant_id = ${tenantId}`,
  );
  return row ?? null;
}

/**
 * Locks the sending job until the transaction ends, so that it does not end or send anything else. Lock order: after
 * the row of the receiving context, and last. Null: the job has ended or has a stop request.
 */
export async function lockSender(
  tx: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  jobId: JobId,
): Promise<{ hops: number } | null> {
  const [row] = await tx.execute<{ hops: number }>(sql`/* jobs.lock_sender */
    select hops from jobs where id = ${jobId} and tenant_id = ${tenantId} and context_id = ${contextId}
      and status in ('running', 'waiting') and stop_kind is null for no key update`);
  return row ?? null;
}

/** Messages that a context has sent within the last minute, through calls of jobs that were active then. */
export async function sentLately(tx: Executor, tenantId: TenantId, contextId: ContextId): Promise<number> {
  const [row] = await tx.execute<{ count: number }>(sql`
    select count(*)::int as count from jobs q
    join tool_calls t on t.context_id = q.context_id and t.job_id = q.id and t.name = 'send_message'
      and t.created_at > clock_timestamp() - interval '1 minute'
    join jobs s on s.parent_tool_call_id = t.id
    where q.context_id = ${contextId} and q.tenant_id = ${tenantId}
      and q.id in (select k.id from jobs k where k.context_id = ${contextId} order by k.id desc limit 1000)
      and (q.finished_at is null or q.finished_at > clock_timestamp() - interval '1 minute')`);
  return row?.count ?? 0;
}
