/** Workers: identity and settings of a context, with one version for both. */
import { and, eq, sql } from 'drizzle-orm';
import type { ContextId, TenantId, WorkerId } from '../core/ids.ts';
import type { WorkerConfig, WorkerRole } from '../core/settings.ts';
import type { Executor } from './client.ts';
import { branches, contexts, events, failedCalls, jobs, messages, toolCalls, workers } from './schema.ts';

export type NewWorker = {
  id: WorkerId;
  tenantId: TenantId;
  contextId: ContextId;
  name: string;
  title: string | null;
  role: WorkerRole | null;
  config: WorkerConfig;
  parentWorkerId: WorkerId | null;
  depth: number;
};

/** A worker, its context and that context's first branch. Inside a transaction. */
export async function createWorker(tx: Executor, worker: NewWorker): Promise<void> {
  const { tenantId, contextId } = worker;
  await tx.insert(contexts).values({ id: contextId, tenantId });
  await tx.insert(workers).values({ ...worker, ...roleColumns(worker.role) });
  await tx.insert(branches).values({ contextId, tenantId, name: 'main' });
}

function roleColumns(role: WorkerRole | null) {
  return { role: role?.name ?? null, roleVersion: role?.version ?? null };
}

/**
 * The depth of a worker that is to become a parent; null: this tenant has no such worker. It is not removed before the
 * transaction ends, and whoever removes it then finds its child.
 */
export async function depthOf(tx: Executor, tenantId: TenantId, id: WorkerId): Promise<number | null> {
  const [row] = await tx
    .select({ depth: workers.depth })
    .from(workers)
    .where(and(eq(workers.tenantId, tenantId), eq(workers.id, id)))
    .for('key share');
  return row?.depth ?? null;
}

/** Holds a worker, so that nobody makes a child of it any more. False: it has one. */
export async function holdChildless(tx: Executor, tenantId: TenantId, id: WorkerId): Promise<boolean> {
  await tx.execute(sql`select id from workers where tenant_id = ${tenantId} and id = ${id} for update`);
  // A later statement: it sees whatever was there when the lock was taken.
  const children = await tx.execute(
    sql`select id from workers where tenant_id = ${tenantId} and parent_worker_id = ${id} limit 1`,
  );
  return children.length === 0;
}

/** The version of a worker's settings; null: this tenant has no such worker. */
export async function versionOf(
  executor: Executor,
  tenantId: TenantId,
  id: WorkerId,
): Promise<number | null> {
  const [row] = await executor.execute<{ version: number }>(
    sql`select version from workers where tenant_id = ${tenantId} and id = ${id}`,
  );
  return row?.version ?? null;
}

/** Which context belongs to a worker; null: this tenant has no such worker. */
export async function contextOf(
  executor: Executor,
  tenantId: TenantId,
  id: WorkerId,
): Promise<ContextId | null> {
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
 * Changes a worker where its version is still `expected` (null: whatever it is). The context was called up before.
 * Returns the new version; null: another version stands.
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
    })
    .where(
      and(eq(workers.contextId, contextId), expected === null ? undefined : eq(workers.version, expected)),
    )
    .returning({ version: workers.version });
  return row?.version ?? null;
}

/** A worker and all below it, deepest first. */
export async function descendants(
  executor: Executor,
  tenantId: TenantId,
  id: WorkerId,
): Promise<{ id: WorkerId; contextId: ContextId }[]> {
  const rows = await executor.execute<{ id: WorkerId; context_id: ContextId }>(sql`
    with recursive tree as (
      select id, context_id, depth from workers where tenant_id = ${tenantId} and id = ${id}
      union all
      select w.id, w.context_id, w.depth from workers w join tree on w.parent_worker_id = tree.id
      where w.tenant_id = ${tenantId}
    )
    select id, context_id from tree order by depth desc, id`);
  return rows.map((row) => ({ id: row.id, contextId: row.context_id }));
}

/** Removes a context and all that belongs to it, for good. Its row was locked before. */
export async function deleteContext(tx: Executor, contextId: ContextId): Promise<void> {
  for (const table of [events, messages, toolCalls, failedCalls, jobs, branches, workers]) {
    await tx.delete(table).where(eq(table.contextId, contextId));
  }
  await tx.delete(contexts).where(eq(contexts.id, contextId));
}

/** The context of the oldest worker of that name and model that was not stopped; null: none. */
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
