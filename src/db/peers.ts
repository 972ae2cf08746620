/** A worker among those of its tree, as it asks for the others. */
import { sql } from 'drizzle-orm';
import type { ContextId, JobId, TenantId, ToolCallId, WorkerId } from '../core/ids.ts';
import type { Executor } from './client.ts';

/** The worker that runs a context. */
export type Self = {
  tenantId: TenantId;
  id: WorkerId;
  name: string;
  parentWorkerId: WorkerId | null;
  rootWorkerId: WorkerId;
};

/** Null: it is gone. */
export async function findSelf(
  executor: Executor,
  { tenantId, contextId }: { tenantId: TenantId; contextId: ContextId },
): Promise<Self | null> {
  const [row] = await executor.execute<{
    id: WorkerId;
    name: string;
    parent_worker_id: WorkerId | null;
    root: WorkerId;
  }>(sql`
    select id, name, parent_worker_id, coalesce(root_worker_id, id) as root from workers
    where context_id = ${contextId} and tenant_id = ${tenantId}`);
  if (row === undefined) return null;
  return {
    tenantId,
    id: row.id,
    name: row.name,
    parentWorkerId: row.parent_worker_id,
    rootWorkerId: row.root,
  };
}

/** `isBelow`: the one who asks made it, or one of those that it made did. */
export type Found = { contextId: ContextId; isBelow: boolean };

/** Another worker of the same tree; null: there is none of that id. */
export async function findPeer(executor: Executor, self: Self, id: WorkerId): Promise<Found | null> {
  const [row] = await executor.execute<{ context_id: ContextId; below: boolean }>(sql`/* workers.find_peer */
    with recursive up as (
      select w.parent_worker_id as id from workers w where w.id = ${id} and w.tenant_id = ${self.tenantId}
      union all
      select w.parent_worker_id from up join workers w on w.id = up.id and w.tenant_id = ${self.tenantId}
    )
    select w.context_id, exists (select 1 from up where up.id = ${self.id}) as below from workers w
    where w.id = ${id} and w.tenant_id = ${self.tenantId} and w.id <> ${self.id}
      and coalesce(w.root_worker_id, w.id) = ${self.rootWorkerId}`);
  return row === undefined ? null : { contextId: row.context_id, isBelow: row.below };
}

/** The job that a call has sent; null: none yet. */
export async function sentBy(
  executor: Executor,
  tenantId: TenantId,
  toolCallId: ToolCallId,
): Promise<JobId | null> {
  const [row] = await executor.execute<{ id: JobId }>(
    sql`select id from jobs where parent_tool_call_id = ${toolCallId} and tenant_id = ${tenantId}`,
  );
  return row?.id ?? null;
}

/** How many workers have passed on what a job answers. */
export async function hopsOf(executor: Executor, tenantId: TenantId, jobId: JobId): Promise<number> {
  const [row] = await executor.execute<{ hops: number }>(
    sql`select hops from jobs where id = ${jobId} and tenant_id = ${tenantId}`,
  );
  return row?.hops ?? 0;
}

/**
 * The job that sends, held until the transaction ends: it does not end meanwhile, and sends nothing else. Taken after the row
 * of the context that it sends to, and nothing after it. Null: it ended, or was told to.
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

/** Messages that a context has sent within the last minute: by calls of its jobs that were at work then. */
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
