/** Runnable contexts, by tenant and user: what the free slots of a worker process choose from. */
import { sql, type SQL } from 'drizzle-orm';
import type { UserOrNone } from '../../core/access/user.ts';
import type { ContextId, TenantId } from '../../core/ids.ts';
import type { Executor } from '../connection/client.ts';
import { WAKE_UP_GRACE_MS, nowInStatement } from '../connection/instant.ts';
import { columns, recordset } from '../rows/recordset.ts';
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

export type RunnableByTenant = Map<TenantId, Map<UserOrNone, Runnable[]>>;

type Asked = {
  /** Tenants after this one; null: from the first one on. */
  after: TenantId | null;
  /** Of tenants that had more users than fit: only users after this one, and then the others. */
  afterUser?: ReadonlyMap<TenantId, UserOrNone> | undefined;
  /** Contexts of one tenant at most: the first of each user, then the second of each, and so on. */
  perTenant: number;
  /** Only contexts whose wake-up should have arrived by now. */
  onlyOverdue: boolean;
  /** Contexts that the caller does not support, left out until one of their counters changes. */
  passBy: readonly Passed[];
  /** Slots of a tenant that has no limit of its own; missing: no limit. */
  slotsOfTenant?: number | undefined;
};

export type Found = {
  byTenant: RunnableByTenant;
  /** The tenant after which the next answer continues, because this one holds no more; null: it held all. */
  last: TenantId | null;
  /** The same within each tenant that was read; null: it held contexts of all its users. */
  lastUsers: ReadonlyMap<TenantId, UserOrNone | null>;
  /** The tenants may have more contexts. */
  hasMore: boolean;
};

/** Tenants and contexts in one answer at most. */
const MOST_TENANTS = 500;
const MOST_CONTEXTS = 5_000;
/** Where few users have most of the contexts, so many times `perTenant` are read of one tenant at most. */
const SPARE = 4;

const AFTER = recordset(
  'a',
  columns<readonly [TenantId, UserOrNone]>({
    tenant: ['bigint', ([tenant]) => tenant],
    user_name: ['text', ([, user]) => user],
  }),
);

/** `place`: of the tenant. `isCut`: its user may have more contexts. `lastUser`: see `Found`. */
type Read = { tenantId: TenantId; place: number; mayRun: boolean; lastUser: UserOrNone | null };
type Row = Read & ((Omit<Runnable, 'tenantId'> & { isCut: boolean }) | { contextId: null });

/**
 * The first runnable contexts of each user of each tenant. Reads an index entry for each tenant and user, and a few for
 * each context that it returns, and one for each that it leaves out; if a tenant has a limit of slots, also one for each
 * context that runs. Tenants that have their limit are left out. Locks nothing: another process may claim them meanwhile.
 */
export async function readRunnable(executor: Executor, asked: Asked): Promise<Found> {
  const { after, afterUser = new Map<TenantId, UserOrNone>(), perTenant, slotsOfTenant } = asked;
  const ofFile = slotsOfTenant ?? null;
  const limited = ofFile === null ? hasSlotLimit : sql`true`;
  const hasItsLimit = sql`(${limited} and ${slotLimit(ofFile)} <= coalesce((select r.count from running r where r.tenant_id = t.id), 0))`;
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
    ), left_off as materialized (
      select * from ${AFTER.table([...afterUser])}
    )
    select t.id as "tenantId", t.place::int, t.may_run as "mayRun", u.names[${perTenant}::int] as "lastUser",
      f.id as "contextId", f.user_name as "user", f.is_cut as "isCut", f.wake_seq = 1 and f.lease_epoch = 0 as "isNew",
      f.next_check_at - ${WAKE_UP_GRACE_MS}::float8 * interval '1 millisecond' < newest.at as "isSuspect"
    from newest, (
      select id, row_number() over () as place,
        (select a.user_name from left_off a where a.tenant = tenant.id) as after_user,
        not exists (select 1 from tenants t where t.id = tenant.id and (t.status <> 'active' or ${hasItsLimit})) as may_run
      -- Always true. It makes the planner expect few tenants and not compile the statement with JIT.
      from tenant where id is not null and id + 0 = id limit ${MOST_TENANTS}
    ) t cross join lateral (${usersOf(asked)}) u left join lateral (${contextsOf(asked)}) f on true
    limit ${MOST_CONTEXTS}`);
  return found(wholeTenants(rows), perTenant, rows.length === MOST_CONTEXTS);
}

const ofTenant = sql`c.scheduling_status = 'runnable' and c.tenant_id = t.id`;

function mayStart({ onlyOverdue, passBy }: Asked): SQL {
  return sql`(not ${onlyOverdue}::boolean or c.next_check_at <= ${nowInStatement}) and not ${isPassedBy(passBy)}`;
}

/** The next user of the tenant `t` by the index. */
function nextUser(isNext: SQL): SQL {
  return sql`(select c.user_name from contexts c where ${ofTenant} and ${isNext} order by c.user_name limit 1)`;
}

/** The `names` of the users of the tenant `t` that have something to start: as many as fit, read one by one. */
function usersOf(asked: Asked): SQL {
  return sql`
      with recursive ahead(name) as (
        select case when t.after_user is null then ${nextUser(sql`true`)}
          else ${nextUser(sql`c.user_name > t.after_user`)} end
        union all
        select ${nextUser(sql`c.user_name > ahead.name`)} from ahead where ahead.name is not null
      ), others(name) as (
        select ${nextUser(sql`true`)} where t.after_user is not null
        union all
        select ${nextUser(sql`c.user_name > others.name`)} from others where others.name < t.after_user
      )
      select array_agg(name) as names from (
        select name from (
          select name from ahead where name is not null
          union all
          select name from others where name <= t.after_user
        ) each_user cross join lateral (
          select from contexts c where ${ofTenant} and c.user_name = each_user.name and ${mayStart(asked)}
          -- In the order of the index, so that the planner uses it.
          order by c.priority, c.next_check_at limit 1
        ) one limit ${asked.perTenant}
      ) first where t.may_run
    `;
}

/** The first contexts of those users. */
function contextsOf(asked: Asked): SQL {
  const each = sql`least(${asked.perTenant}::int, ${SPARE * asked.perTenant}::int / cardinality(u.names))`;
  return sql`
      select c.*, c.nth = ${each} as is_cut
      from unnest(u.names) with ordinality user_of(name, place) cross join lateral (
        select c.*, row_number() over () as nth from (
          select c.id, c.user_name, c.wake_seq, c.lease_epoch, c.next_check_at from contexts c
          where ${ofTenant} and c.user_name = user_of.name and ${mayStart(asked)}
          order by c.priority, c.next_check_at limit ${each}
        ) c
      ) c order by c.nth, user_of.place limit ${asked.perTenant}
    `;
}

/** Without the last tenant, if not all of its rows fit: the next answer begins with it. */
function wholeTenants(rows: readonly Row[]): readonly Row[] {
  if (rows.length < MOST_CONTEXTS) return rows;
  const whole = rows.filter(({ tenantId }) => tenantId !== rows.at(-1)?.tenantId);
  return whole.length === 0 ? rows : whole;
}

function found(rows: readonly Row[], perTenant: number, areContextsCut: boolean): Found {
  const last = rows.at(-1);
  const areCut = last !== undefined && (areContextsCut || last.place === MOST_TENANTS);
  const contexts = Map.groupBy(
    rows.flatMap((row) => (row.contextId === null ? [] : [row])),
    ({ tenantId }) => tenantId,
  );
  return {
    byTenant: new Map([...contexts].map(([tenant, all]) => [tenant, Map.groupBy(all, ({ user }) => user)])),
    last: areCut ? last.tenantId : null,
    lastUsers: new Map(
      rows.flatMap(({ tenantId, mayRun, lastUser }) => (mayRun ? [[tenantId, lastUser] as const] : [])),
    ),
    hasMore: [...contexts.values()].some((all) => all.length === perTenant || all.some(({ isCut }) => isCut)),
  };
}
