/** Workers: identity and settings of a context, with one version for both. */
import { and, eq, sql } from 'drizzle-orm';
import type { ContextId, TenantId, WorkerId } from '../../../core/ids.ts';
import type { WorkerConfig, WorkerRole } from '../../../core/workers/settings.ts';
import { countOut, lockCalls } from '../../calls/awaited.ts';
import type { Executor } from '../../connection/client.ts';
import { dueNow } from '../../connection/instant.ts';
import { branches } from '../../schema/branches.ts';
import { compactions } from '../../schema/compactions.ts';
import { contexts } from '../../schema/contexts.ts';
import { eventBatches } from '../../schema/events.ts';
import { jobs } from '../../schema/jobs.ts';
import { messages } from '../../schema/messages.ts';
import { failedCalls } from '../../schema/model-calls.ts';
import { searchBacklog, searchEntries } from '../../schema/search.ts';
import { awaitedJobs, toolCalls, toolExecutions, toolLogs, toolReports, toolSteps } from '../../schema/tool-calls.ts';
import { jobWebhooks, webhookDeliveries, webhookOutbox } from '../../schema/webhooks/webhooks.ts';
import { workers } from '../../schema/workers.ts';

export function roleColumns(role: WorkerRole | null) {
  return { role: role?.name ?? null, roleVersion: role?.version ?? null };
}

/**
 * The depth of a worker that becomes a parent; null: the tenant has no such worker. A share lock delays its deletion
 * until the transaction ends, so that the deletion finds the new child.
 */
export async function depthOf(tx: Executor, tenantId: TenantId, id: WorkerId): Promise<number | null> {
  const [row] = await tx.execute<{ depth: number }>(
    sql`/* workers.hold */ select depth from workers where tenant_id = ${tenantId} and id = ${id} for key share`,
  );
  return row?.depth ?? null;
}

/** Locks a worker, so that no child can be added. False: it has attached children, which must be deleted with it. */
export async function lockChildless(tx: Executor, tenantId: TenantId, id: WorkerId): Promise<boolean> {
  await tx.execute(
    sql`/* workers.lock */ select id from workers where tenant_id = ${tenantId} and id = ${id} for update`,
  );
  // A separate statement, so that it sees all rows committed before the lock was granted.
  const children = await tx.execute(
    sql`/* workers.find_child */ select id from workers where tenant_id = ${tenantId} and parent_worker_id = ${id} and not detached limit 1`,
  );
  return children.length === 0;
}

/** Makes detached children of a worker that is being deleted the roots of their own trees. The worker is locked. */
export async function releaseDetached(tx: Executor, tenantId: TenantId, id: WorkerId): Promise<void> {
  await tx.execute(sql`/* workers.release_detached */
    with recursive tree as (
      select w.id, w.id as top, w.depth as above from workers w
      where w.tenant_id = ${tenantId} and w.parent_worker_id = ${id} and w.detached
      union all
      select w.id, tree.top, tree.above from workers w join tree on w.parent_worker_id = tree.id
      where w.tenant_id = ${tenantId}
    ), locked as materialized (
      select w.id from workers w where w.id in (select id from tree) order by w.id for no key update
    )
    update workers w set depth = w.depth - tree.above,
      root_worker_id = case when w.id = tree.top then null else tree.top end,
      parent_worker_id = case when w.id = tree.top then null else w.parent_worker_id end
    from tree join locked on locked.id = tree.id where w.id = tree.id`);
}

/** The version of a worker's settings; null: the tenant has no such worker. */
export async function versionOf(executor: Executor, tenantId: TenantId, id: WorkerId): Promise<number | null> {
  const [row] = await executor.execute<{ version: number }>(
    sql`/* workers.read_version */ select version from workers where tenant_id = ${tenantId} and id = ${id}`,
  );
  return row?.version ?? null;
}

/** The context of a worker; null: the tenant has no such worker. */
export async function contextOf(executor: Executor, tenantId: TenantId, id: WorkerId): Promise<ContextId | null> {
  const [row] = await executor.execute<{ context_id: ContextId }>(
    sql`select context_id from workers where tenant_id = ${tenantId} and id = ${id}`,
  );
  return row?.context_id ?? null;
}

export type WorkerChange = {
  name?: string;
  title?: string | null;
  role?: WorkerRole | null;
  config?: WorkerConfig;
};

/**
 * Changes a worker if its version is still `expected` (null: any version). The caller has locked the context for
 * control. Returns the new version; null: the worker has another version.
 */
export async function changeWorker(
  tx: Executor,
  contextId: ContextId,
  { role, ...change }: WorkerChange,
  expected: number | null,
): Promise<number | null> {
  const [row] = await tx
    .update(workers)
    .set({
      ...change,
      ...(role !== undefined && roleColumns(role)),
      version: sql`${workers.version} + 1`,
      updatedAt: sql`clock_timestamp()`,
      // A sweep computes the expiry. An archived worker stays archived.
      expiresAt: sql`case when ${workers.archivedAt} is null then ${dueNow} else ${workers.expiresAt} end`,
    })
    .where(and(eq(workers.contextId, contextId), expected === null ? undefined : eq(workers.version, expected)))
    .returning({ version: workers.version });
  return row?.version ?? null;
}

/** A worker and all attached workers below it, deepest first. */
export async function descendants(
  executor: Executor,
  tenantId: TenantId,
  id: WorkerId,
): Promise<{ id: WorkerId; contextId: ContextId }[]> {
  return executor.execute<{ id: WorkerId; contextId: ContextId }>(sql`/* workers.list_descendants */
    with recursive tree as (
      select id, context_id, depth from workers where tenant_id = ${tenantId} and id = ${id}
      union all
      select w.id, w.context_id, w.depth from workers w join tree on w.parent_worker_id = tree.id
      where w.tenant_id = ${tenantId} and not w.detached
    )
    select id, context_id as "contextId" from tree order by depth desc, id`);
}

const TABLES = [
  eventBatches,
  messages,
  toolCalls,
  toolExecutions,
  awaitedJobs,
  failedCalls,
  compactions,
  jobs,
  branches,
  workers,
];

/**
 * Written beside the appends, by any worker process (see search-index.ts, webhooks/outbox.ts, tool-reports.ts): it locks
 * the context's row first and then theirs, so a deletion does too.
 */
const WRITTEN_LATER = [
  searchEntries,
  searchBacklog,
  webhookOutbox,
  webhookDeliveries,
  jobWebhooks,
  toolLogs,
  toolReports,
  toolSteps,
];

/**
 * Permanently deletes a context and everything that belongs to it. The caller has locked its row. Returns the contexts
 * that waited only for its jobs and must be woken.
 */
export async function deleteContext(tx: Executor, tenantId: TenantId, contextId: ContextId): Promise<ContextId[]> {
  await lockCalls(tx, tenantId, contextId);
  const met = await countOut(tx, tenantId, contextId);
  for (const table of TABLES) {
    await tx.delete(table).where(eq(table.contextId, contextId));
  }
  await tx.delete(contexts).where(eq(contexts.id, contextId));
  // Who writes them locks the context's row. So all its rows are committed by now, and none can be added.
  for (const table of WRITTEN_LATER) await tx.delete(table).where(eq(table.contextId, contextId));
  return met;
}

/** The context of the oldest worker with this name and model that is not stopped; null: none. */
export async function runningContext(
  executor: Executor,
  tenantId: TenantId,
  name: string,
  model: string,
): Promise<ContextId | null> {
  const [row] = await executor.execute<{ context_id: ContextId }>(sql`
    select w.context_id from workers w join contexts c on c.id = w.context_id and not c.stopped
    where w.tenant_id = ${tenantId} and w.name = ${name} and w.config ->> 'model' = ${model} order by w.id limit 1`);
  return row?.context_id ?? null;
}
