/** What the deletion of a tenant removes, in steps that may be repeated. */
import { sql } from 'drizzle-orm';
import type { TenantId, WorkerId } from '../../../core/ids.ts';
import type { Deletion } from '../../../core/access/tenant.ts';
import type { Millis } from '../../../core/time.ts';
import type { Executor } from '../../connection/client.ts';
import { dueNow, millis, nowInStatement } from '../../connection/instant.ts';

/** How long one process has the deletion for itself, in milliseconds. It takes it again with every step. */
export const STEP_MS = 30_000;

/**
 * Tables of a tenant whose rows belong to no context. A test compares them with the columns `tenant_id` of the database.
 */
export const TENANT_TABLES = [
  'webhook_deliveries',
  'webhooks',
  'schedule_runs',
  'schedules',
  'submissions',
  'submission_grants',
  'idempotency_keys',
  'sessions',
  'api_keys',
  'token_revocations',
  'roles',
  'provider_throttles',
  'tool_lists',
  'tool_use',
  'audit_entries',
] as const;
export type TenantTable = (typeof TENANT_TABLES)[number];

/** `now`: by the clock of the database. */
export type TakenDeletion = { name: string; deletion: Deletion; now: Millis };

/**
 * Takes the deletion for `STEP_MS`; later ones may go on with it, because each step may be repeated. The first time, it
 * stores when: all transactions that begin later know that the tenant is not active. Null: it is done; or, for the first
 * step of a process (`isFirst`), another one has it.
 */
export async function takeDeletion(executor: Executor, id: TenantId, isFirst: boolean): Promise<TakenDeletion | null> {
  const [taken] = await executor.execute<TakenDeletion>(sql`/* tenants.take_deletion */
    update tenants t set deletion_lease = ${nowInStatement} + ${STEP_MS}::float8 * interval '1 millisecond',
      deletion = case when t.deletion->'knownAt' = 'null'::jsonb
        then jsonb_set(t.deletion, '{knownAt}', to_jsonb(${millis(dueNow)})) else t.deletion end
    where t.id = ${id} and t.status = 'deleting'
      and (not ${isFirst}::boolean or t.deletion_lease is null or t.deletion_lease <= ${nowInStatement})
    returning t.name, t.deletion, ${millis(dueNow)} as now`);
  return taken ?? null;
}

/** Lets any process take the deletion. */
export async function releaseDeletion(executor: Executor, id: TenantId): Promise<void> {
  await executor.execute(sql`/* tenants.release_deletion */
    update tenants t set deletion_lease = null where t.id = ${id}`);
}

/** Ends the keys of the tenant, and with them its sessions and tokens. */
export async function endAccess(tx: Executor, id: TenantId): Promise<void> {
  await tx.execute(sql`/* tenants.end_access */
    with keys as (
      update api_keys k set revoked_at = ${nowInStatement} where k.tenant_id = ${id} and k.revoked_at is null
    )
    delete from sessions s where s.tenant_id = ${id}`);
}

/** `runs`: whether a process runs a context of the tenant. `once`: whether a call with effect `once` runs in one. */
export async function activityOf(executor: Executor, id: TenantId): Promise<{ runs: boolean; once: boolean }> {
  const [row] = await executor.execute<{ runs: boolean; once: boolean }>(sql`
    select exists (select 1 from contexts c where c.lease_owner is not null and c.tenant_id = ${id}) as runs,
      exists (
        select 1 from contexts c join tool_executions e on e.context_id = c.id
        join tool_calls k on k.id = e.tool_call_id
        where c.lease_owner is not null and c.tenant_id = ${id} and e.ended_at is null and k.effect = 'once'
      ) as once`);
  return row ?? { runs: false, once: false };
}

/** Workers without a parent, at most `most`. */
export async function topWorkers(executor: Executor, id: TenantId, most: number): Promise<WorkerId[]> {
  const rows = await executor.execute<{ id: WorkerId }>(sql`
    select w.id from workers w where w.tenant_id = ${id} and w.parent_worker_id is null limit ${most}`);
  return rows.map((row) => row.id);
}

/** Counts deleted workers. */
export async function countDeleted(executor: Executor, id: TenantId, workers: number): Promise<void> {
  await executor.execute(sql`/* tenants.count_deleted */
    update tenants t
    set deletion = jsonb_set(t.deletion, '{workers}', to_jsonb((t.deletion->>'workers')::int + ${workers}::int))
    where t.id = ${id} and t.status = 'deleting'`);
}

/** Deletes rows of a table, at most `most`. Returns how many. */
export async function deleteRows(executor: Executor, id: TenantId, table: TenantTable, most: number): Promise<number> {
  if (table === 'audit_entries') return deleteEntries(executor, id, most);
  const name = sql.identifier(table);
  const rows = await executor.execute(sql`/* tenants.delete_rows */
    with rest as materialized (
      select r.ctid as place from ${name} r where r.tenant_id = ${id} limit ${most} for update skip locked
    )
    delete from ${name} d using rest where d.ctid = rest.place returning 1`);
  return rows.length;
}

/** A login that does not own the tables can delete entries of the audit log only by this function (logins.ts). */
async function deleteEntries(executor: Executor, id: TenantId, most: number): Promise<number> {
  const [row] = await executor.execute<{ count: number }>(sql`/* tenants.delete_entries */
    select delete_audit_entries(${id}::bigint, ${most}::int) as count`);
  return row?.count ?? 0;
}

/**
 * Whether a transaction may still write for the tenant: one that began before all knew of its deletion. PostgreSQL shows
 * those of the own login, and of the API's, whose rights that of the worker processes has.
 */
export async function hasOldTransaction(executor: Executor, { knownAt }: Deletion): Promise<boolean> {
  const [row] = await executor.execute<{ runs: boolean }>(sql`
    select exists (
      select 1 from pg_stat_activity a
      where a.datname = current_database() and a.backend_type = 'client backend' and a.pid <> pg_backend_pid()
        and ${millis(sql`a.xact_start`)} <= ${knownAt ?? 0}::float8
    ) as runs`);
  return row?.runs === true;
}

/** Deletes the row of the tenant if nothing else of it is left. */
export async function deleteTenant(tx: Executor, id: TenantId): Promise<boolean> {
  const isLeft = sql.join(
    ['workers', ...TENANT_TABLES].map(
      (table) => sql`exists (select 1 from ${sql.identifier(table)} r where r.tenant_id = ${id})`,
    ),
    sql` or `,
  );
  const rows = await tx.execute(sql`/* tenants.delete */
    delete from tenants t where t.id = ${id} and t.status = 'deleting' and not (${isLeft}) returning 1`);
  return rows.length > 0;
}
