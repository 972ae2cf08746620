/** Runnable contexts, by tenant: what the free slots of a worker process choose from. */
import { sql } from 'drizzle-orm';
import type { ContextId, TenantId } from '../../core/ids.ts';
import type { Executor } from '../connection/client.ts';
import { WAKE_UP_GRACE_MS, nowInStatement } from '../connection/instant.ts';
import { isPassedBy, type Passed } from './passed.ts';
import { hasSlotLimit, slotLimit } from '../processes/slots.ts';

export type Runnable = {
  tenantId: TenantId;
  contextId: ContextId;
  /** No process has claimed it yet, and it has had one wake-up. */
  isNew: boolean;
  /** A process started or died since it became runnable: claiming it may have killed that process. */
  isSuspect: boolean;
};

type Asked = {
  /** Tenants after this one; null: from the first one on. */
  after: TenantId | null;
  /** Contexts of one tenant at most: those of the highest priority, the oldest first. */
  perTenant: number;
  /** Only contexts whose wake-up should have arrived by now. */
  onlyOverdue: boolean;
  /** Contexts that the caller does not support, left out until one of their counters changes. */
  passBy: readonly Passed[];
  /** Slots of a tenant that has no limit of its own; missing: no limit. */
  slotsOfTenant?: number | undefined;
};

/** Tenants and contexts in one answer at most. */
const MOST_TENANTS = 500;
const MOST_CONTEXTS = 5_000;

/** `last`: the tenant after which the next answer continues, because this one holds no more; null: it held all. */
export type RunnableByTenant = { byTenant: Map<TenantId, Runnable[]>; last: TenantId | null };

/**
 * The first runnable contexts of each tenant, in their order. Reads one index entry for each tenant, and one for each
 * context that it returns or leaves out; if a tenant has a limit of slots, also one for each context that runs. Tenants
 * that have their limit are left out. Locks nothing: another process may claim them meanwhile.
 */
export async function readRunnable(
  executor: Executor,
  { after, perTenant, onlyOverdue, passBy, slotsOfTenant }: Asked,
): Promise<RunnableByTenant> {
  const ofFile = slotsOfTenant ?? null;
  const limited = ofFile === null ? hasSlotLimit : sql`true`;
  const isFull = sql`(${limited} and ${slotLimit(ofFile)} <= coalesce((select r.count from running r where r.tenant_id = t.id), 0))`;
  type Row = { tenantId: TenantId; place: number } & (Omit<Runnable, 'tenantId'> | { contextId: null });
  const rows = await executor.execute<Row>(sql`/* contexts.read_runnable */
    with recursive tenant(id) as (
      (select c.tenant_id from contexts c
        where c.scheduling_status = 'runnable' and c.tenant_id > ${after ?? 0} order by c.tenant_id limit 1)
      union all
      select (select c.tenant_id from contexts c
        where c.scheduling_status = 'runnable' and c.tenant_id > tenant.id order by c.tenant_id limit 1)
      from tenant where tenant.id is not null
    ), running as materialized (
      -- Evaluated if there is a tenant with a limit.
      select c.tenant_id, count(*) as count from contexts c where c.lease_owner is not null group by c.tenant_id
    ), newest as materialized (
      select coalesce(max(greatest(p.started_at, p.dead_at)), '-infinity') as at from processes p
    )
    select t.id as "tenantId", t.place::int, f.id as "contextId", f.wake_seq = 1 and f.lease_epoch = 0 as "isNew",
      f.next_check_at - ${WAKE_UP_GRACE_MS}::float8 * interval '1 millisecond' < newest.at as "isSuspect"
    from newest, (
      select id, row_number() over () as place,
        not exists (select 1 from tenants t where t.id = tenant.id and (t.status <> 'active' or ${isFull})) as may_run
      from tenant where id is not null limit ${MOST_TENANTS}
    ) t left join lateral (
      select c.id, c.wake_seq, c.lease_epoch, c.next_check_at from contexts c
      where c.scheduling_status = 'runnable' and c.tenant_id = t.id and t.may_run
        and (not ${onlyOverdue}::boolean or c.next_check_at <= ${nowInStatement})
        and not ${isPassedBy(passBy)}
      order by c.priority, c.next_check_at limit ${perTenant}
    ) f on true
    limit ${MOST_CONTEXTS}`);
  const last = rows.at(-1);
  const isCut = last !== undefined && (last.place === MOST_TENANTS || rows.length === MOST_CONTEXTS);
  const found = rows.flatMap((row): Runnable[] => (row.contextId === null ? [] : [row]));
  return { byTenant: Map.groupBy(found, ({ tenantId }) => tenantId), last: isCut ? last.tenantId : null };
}
