/** What a tenant has, of what its limits count in PostgreSQL. */
import { sql } from 'drizzle-orm';
import type { Counted, TenantLimits, Usage } from '../../../core/access/quotas.ts';
import type { ContextId, TenantId } from '../../../core/ids.ts';
import type { Executor } from '../../connection/client.ts';
import { runningContexts } from '../../processes/slots.ts';

/** Of what is counted, not measured. */
export type Counts = Pick<Usage, 'queuedJobs' | 'workers'>;

/** Each number is read as so many entries of an index. */
export async function readUsage(executor: Executor, id: TenantId, upTo: Pick<Counted, keyof Counts>): Promise<Counts> {
  const [usage] = await executor.execute<Counts>(sql`/* tenants.read_usage */
    select (select count(*)::int from (select from jobs j
        where j.tenant_id = ${id} and j.status in ('queued', 'delayed') limit ${upTo.queuedJobs ?? 0}) counted) as "queuedJobs",
      (select count(*)::int from (select from workers w
        where w.tenant_id = ${id} limit ${upTo.workers ?? 0}) counted) as workers`);
  if (usage === undefined) throw new Error('A select without a table has one row.');
  return usage;
}

/** Reads the row of each context of the tenant. */
export async function readStoredBytes(executor: Executor, id: TenantId): Promise<number> {
  const [row] = await executor.execute<{ bytes: number }>(sql`/* tenants.read_stored_bytes */
    select coalesce(sum(c.stored_bytes), 0)::float8 as bytes from contexts c where c.tenant_id = ${id}`);
  return row?.bytes ?? 0;
}

/** Of one context. */
export async function readBytesOf(executor: Executor, tenantId: TenantId, id: ContextId): Promise<number> {
  const [row] = await executor.execute<{ bytes: number }>(sql`/* contexts.read_stored_bytes */
    select c.stored_bytes::float8 as bytes from contexts c where c.id = ${id} and c.tenant_id = ${tenantId}`);
  return row?.bytes ?? 0;
}

/** All that a tenant has, except for stored bytes: for those who ask for it. */
export async function readWholeUsage(executor: Executor, id: TenantId): Promise<Counts & { slots: number }> {
  const [row] = await executor.execute<Counts & { slots: number }>(sql`/* tenants.read_whole_usage */
    select (select count(*)::int from jobs j where j.tenant_id = ${id} and j.status in ('queued', 'delayed')) as "queuedJobs",
      (select count(*)::int from workers w where w.tenant_id = ${id}) as workers,
      (select ${runningContexts} from (select ${id}::bigint as id) t) as slots`);
  if (row === undefined) throw new Error('A select without a table has one row.');
  return row;
}

/** Of tenants that have limits or work, at most `most`, those that run most first. `limits`: their own. */
export type TenantLoad = { name: string; limits: TenantLimits; running: number; queued: number };

/** From partial indexes, and one pass over the tenants. */
export async function readTenantLoads(executor: Executor, most: number): Promise<TenantLoad[]> {
  return executor.execute<TenantLoad>(sql`/* tenants.read_loads */
    select t.name, t.limits, coalesce(r.running, 0)::int as running, coalesce(q.queued, 0)::int as queued
    from tenants t
    left join (
      select c.tenant_id, count(*) as running from contexts c where c.lease_owner is not null group by c.tenant_id
    ) r on r.tenant_id = t.id
    left join (
      select j.tenant_id, count(*) as queued from jobs j where j.status in ('queued', 'delayed') group by j.tenant_id
    ) q on q.tenant_id = t.id
    where t.limits <> '{}' or r.tenant_id is not null or q.tenant_id is not null
    order by running desc, queued desc, t.id limit ${most}`);
}
