/** Runnable contexts, by tenant and user: what the free slots of a worker process choose from. */
import { sql, type SQL } from 'drizzle-orm';
import type { UserOrNone } from '../../core/access/user.ts';
import type { ContextId, TenantId } from '../../core/ids.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { WAKE_UP_GRACE_MS, nowInStatement } from '../connection/instant.ts';
import { isPassedBy, type Passed } from './passed.ts';
import { hasSlotLimit, slotLimit } from '../processes/slots.ts';

export type Runnable = {
  tenantId: TenantId;
  contextId: ContextId;
  /** Of its worker. */
  user: UserOrNone;
  /** No process has claimed it yet, and it has had one wake-up. */
  isNew: boolean;
  /** A process started or died since it became runnable: claiming it may have killed that process. */
  isSuspect: boolean;
};

type Asked = {
  /** Tenants after this one; null: from the first one on. */
  after: TenantId | null;
  /** Of tenants that had more users than fit: only users after this one, and then the others. */
  afterUser?: AfterUser | undefined;
  /**
   * Contexts of one tenant at most. Its users have equal parts of them: those of the highest priority, the oldest first.
   */
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

export type AfterUser = ReadonlyMap<TenantId, UserOrNone>;

/** Runnable contexts of each tenant, by user. */
export type Waiting = Map<TenantId, Map<UserOrNone, Runnable[]>>;

/**
 * `last`: the tenant after which the next answer continues, because this one holds no more; null: it held all.
 * `afterUser`: the same for users, of tenants that have more of them. `hasMore`: there may be more contexts of the tenants.
 */
export type Found = { waiting: Waiting; last: TenantId | null; afterUser: AfterUser; hasMore: boolean };

/**
 * The first runnable contexts of each user of each tenant: the first of each user, then the second ones, and so on. Reads
 * an index entry for each tenant and each of its users, and one for each context that it returns or leaves out; if a
 * tenant has a limit of slots, also one for each context that runs. Tenants that have their limit are left out. Locks
 * nothing: another process may claim them meanwhile.
 */
export async function readRunnable(
  executor: Executor,
  { after, afterUser = new Map(), perTenant, onlyOverdue, passBy, slotsOfTenant }: Asked,
): Promise<Found> {
  const ofFile = slotsOfTenant ?? null;
  const limited = ofFile === null ? hasSlotLimit : sql`true`;
  const hasItsLimit = sql`(${limited} and ${slotLimit(ofFile)} <= coalesce((select r.count from running r where r.tenant_id = t.id), 0))`;
  const isRunnable = sql`c.scheduling_status = 'runnable' and c.tenant_id = t.id`;
  /** Contexts of one user. */
  const each = sql`greatest(1, ${perTenant}::int / cardinality(u.names))`;
  const userAfter = (user: SQL): SQL =>
    sql`(select c.user_name from contexts c where ${isRunnable} and c.user_name > ${user} order by c.user_name limit 1)`;
  type Row = Of & (Omit<Runnable, 'tenantId'> | { contextId: null });
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
    select t.id as "tenantId", t.place::int, u.names[${perTenant}::int] as "lastUser",
      f.nth = ${each} as "isCut", f.id as "contextId",
f.user_name as "user", f.wake_seq = 1 and f.lease_epoch = 0 as "isNew",
      f.next_check_at - ${WAKE_UP_GRACE_MS}::float8 * interval '1 millisecond' < newest.at as "isSuspect"
    from newest, (
      select id, row_number() over () as place, (${encodeJson(Object.fromEntries(afterUser))}::jsonb ->> id::text) as after_user,
        not exists (select 1 from tenants t where t.id = tenant.id and (t.status <> 'active' or ${hasItsLimit})) as may_run
      from tenant where id is not null limit ${MOST_TENANTS}
    ) t cross join lateral (
      with recursive ahead(name) as (
        select case when t.after_user is null then '' else ${userAfter(sql`t.after_user`)} end
        union all select ${userAfter(sql`ahead.name`)} from ahead where ahead.name is not null
      ), others(name) as (
        select '' where t.after_user is not null
        union all select ${userAfter(sql`others.name`)} from others where others.name < t.after_user
      )
      select array_agg(name) as names from (
        select name from ahead where name is not null
        union all select name from others where name <= t.after_user
        limit ${perTenant}
      ) first where t.may_run
    ) u left join lateral (
      select c.* from unnest(u.names) with ordinality user_of(name, place) cross join lateral (
        select c.id, c.user_name, c.wake_seq, c.lease_epoch, c.next_check_at, row_number() over () as nth from (
          select c.* from contexts c where ${isRunnable} and c.user_name = user_of.name
            and (not ${onlyOverdue}::boolean or c.next_check_at <= ${nowInStatement})
            and not ${isPassedBy(passBy)}
          order by c.priority, c.next_check_at limit ${each}
        ) c
      ) c order by c.nth, user_of.place
    ) f on true
    limit ${MOST_CONTEXTS}`);
  const last = rows.at(-1);
  const isFull = last !== undefined && (last.place === MOST_TENANTS || rows.length === MOST_CONTEXTS);
  const found = rows.flatMap((row): Runnable[] => (row.contextId === null ? [] : [row]));
  const byTenant = Map.groupBy(found, ({ tenantId }) => tenantId);
  return {
    waiting: new Map([...byTenant].map(([tenant, contexts]) => [tenant, Map.groupBy(contexts, ({ user }) => user)])),
    last: isFull ? last.tenantId : null,
    afterUser: new Map(rows.flatMap(({ tenantId, lastUser }) => (lastUser === null ? [] : [[tenantId, lastUser]]))),
    hasMore: rows.some(({ isCut, lastUser }) => isCut === true || lastUser !== null),
  };
}

/** `isCut`: there may be more contexts of its user. `lastUser`: the tenant has more users than fit; null: all fit. */
type Of = { tenantId: TenantId; place: number; isCut: boolean | null; lastUser: UserOrNone | null };
