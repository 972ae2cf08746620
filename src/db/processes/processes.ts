/**
 * Worker processes: one row per process start. Its heartbeat renews the leases of all contexts that the process runs.
 * The process holds the session advisory lock `lock_key` on its heartbeat connection, from before its row exists until
 * it ends.
 */
import { and, eq, isNull, sql, type SQL } from 'drizzle-orm';
import type { ContextId, ProcessId, TenantId } from '../../core/ids.ts';
import type { TenantStatus } from '../../core/access/tenant.ts';
import type { ProcessStatus } from '../../core/process-status.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../connection/client.ts';
import type { ThrottleNews } from '../../core/run/throttle.ts';
import { throttleNews, toThrottleNews, type ThrottlesColumn } from './throttles.ts';
import { millis } from '../connection/instant.ts';
import { hasSlotLimit } from './slots.ts';
import { processes } from '../schema/processes.ts';

/** How late a heartbeat may be before its process counts as dead, in milliseconds. */
export type LeaseTimes = {
  /** If the lock is free, because its connection ended. */
  heartbeatTimeoutMs: number;
  /** If the lock is still held: the machine vanished, or the connection went silent. */
  leaseMs: number;
};

type ProcessRow = {
  id: ProcessId;
  lockKey: number;
  host: string;
  pid: number;
  /** The application name of its connections, which are terminated once it is dead. Without it, they are not. */
  sessionName?: string;
  version: string;
  tools: string[];
  roles: string[];
  models: string[];
  mcpServers: string[];
  /** Whether it ends when the operator asks it to drain. */
  canDrain?: boolean;
  /** It registers again: what was asked of it stays. */
  requestedStatus?: ProcessStatus;
  status?: ProcessStatus;
};

/** What a process has published that it supports. */
export type Published = { tools: string[]; roles: string[]; models: string[]; mcpServers: string[] };

/**
 * When the heartbeat timeout of the process `p` begins. A restarted PostgreSQL server has lost all advisory locks and
 * received no heartbeats meanwhile, so it begins again at the server's start.
 */
const TIMEOUT_BEGINS: SQL = sql`greatest(p.heartbeat_at, pg_postmaster_start_time())`;

/** Whether the session of the process `p` still holds its lock. */
const HOLDS_LOCK: SQL = sql`exists (
        select 1 from pg_locks l
        where l.locktype = 'advisory' and l.granted and l.objsubid = 1
          and l.database = (select oid from pg_database where datname = current_database())
          and l.classid = (p.lock_key >> 32)::oid and l.objid = (p.lock_key & 4294967295)::oid)`;

/** Whether the process `p` is dead. This is the only definition. */
export function isDead(times: LeaseTimes): SQL<boolean> {
  return sql<boolean>`(
    p.dead_at is not null
    or p.heartbeat_at < clock_timestamp() - ${times.leaseMs}::float8 * interval '1 millisecond'
    or (${TIMEOUT_BEGINS} < clock_timestamp() - ${times.heartbeatTimeoutMs}::float8 * interval '1 millisecond'
      and not ${HOLDS_LOCK}))`;
}

/** Whether no live process owns the context `c`. */
export function isUnowned(times: LeaseTimes): SQL<boolean> {
  return sql<boolean>`(c.lease_owner is null
    or not exists (select 1 from processes p where p.id = c.lease_owner and not ${isDead(times)}))`;
}

/**
 * Takes the process's lock on this connection, for as long as the connection lasts. Returns the pid of the server
 * process that holds it; a later heartbeat from another pid means that the lock is lost. Null: an older connection of
 * this process still holds it.
 */
export async function takeLock(connection: Executor, lockKey: number): Promise<number | null> {
  const [row] = await connection.execute<{ pid: number; held: boolean }>(
    sql`/* processes.take_lock */ select pg_backend_pid() as pid, pg_try_advisory_lock(${lockKey}::bigint) as held`,
  );
  return row?.held === true ? row.pid : null;
}

/** What was asked of a process that another one declared dead. Null: its row is gone. */
export async function requestedOf(connection: Executor, id: ProcessId): Promise<ProcessStatus | null> {
  const [row] = await connection.execute<{ requested: ProcessStatus }>(
    sql`/* processes.read_requested */ select requested_status as requested from processes where id = ${id}`,
  );
  return row?.requested ?? null;
}

export async function register(executor: Executor, row: ProcessRow): Promise<void> {
  await executor.insert(processes).values(row);
}

/** A context of this process with an unanswered stop request: its run must read the new `control_seq`. */
type ControlSignal = { contextId: ContextId; controlSeq: number };

type Heartbeat =
  | {
      kind: 'alive';
      backendPid: number;
      now: Millis;
      /** What the operator asked of the process. */
      requested: ProcessStatus;
      signals: ControlSignal[];
      throttles: ThrottleNews;
      tenants: SpecialTenant[];
    }
  /** Another process declared this one dead: its leases are revoked. */
  | { kind: 'dead' };

/** Tenants that a heartbeat returns at most, first those that are not active. Others count as ordinary ones. */
export const MOST_SPECIAL = 2_000;

/** A tenant that is not active, or has another weight than 1, or a limit of slots (null: none). */
export type SpecialTenant = { id: TenantId; status: TenantStatus; weight: number; slots: number | null };

/**
 * One heartbeat for all contexts of the process. Renews its row, stores what the process does, and returns what is asked
 * of it, its control signals, the provider throttles and the special tenants. One statement.
 */
export async function heartbeat(
  connection: Executor,
  { id, status }: { id: ProcessId; status: ProcessStatus },
  { heartbeatTimeoutMs }: LeaseTimes,
): Promise<Heartbeat> {
  const rows = await connection.execute<{
    pid: number;
    now: number;
    requested: ProcessStatus;
    context: ContextId | null;
    control: number | null;
    throttles: ThrottlesColumn;
    tenants: SpecialTenant[] | null;
  }>(sql`/* processes.heartbeat */
    with alive as (
      update processes set heartbeat_at = clock_timestamp(), status = ${status},
        late_at = case when heartbeat_at < clock_timestamp() - ${heartbeatTimeoutMs}::float8 * interval '1 millisecond'
          then clock_timestamp() else late_at end
      where id = ${id} and dead_at is null returning id, requested_status
    )
    select pg_backend_pid() as pid, ${millis(sql`clock_timestamp()`)} as now, alive.requested_status as requested, c.id as context, c.control_seq as control,
      case when row_number() over () = 1 then ${throttleNews} end as throttles,
      case when row_number() over () = 1 then (
        select jsonb_agg(jsonb_build_object('id', t.id, 'status', t.status, 'weight', t.weight, 'slots', t.limits->'slots'))
        from (
          select t.id, t.status, t.weight, t.limits from tenants t
          where t.status <> 'active' or t.weight <> 1 or ${hasSlotLimit}
          order by t.status = 'active', t.weight = 1, t.id limit ${MOST_SPECIAL}
        ) t
      ) end as tenants
    from alive left join contexts c on c.lease_owner = alive.id and c.next_check_at is not null`);
  const [first] = rows;
  if (first === undefined) return { kind: 'dead' };
  const signals = rows.flatMap(({ context, control }) =>
    context === null || control === null ? [] : [{ contextId: context, controlSeq: control }],
  );
  return {
    kind: 'alive',
    backendPid: first.pid,
    now: first.now,
    requested: first.requested,
    signals,
    throttles: toThrottleNews(rows.find(({ throttles }) => throttles !== null)?.throttles ?? null, first.now),
    tenants: rows.find(({ tenants }) => tenants !== null)?.tenants ?? [],
  };
}

/** Whether a process on this host is alive. */
export async function livesOn(executor: Executor, host: string, times: LeaseTimes): Promise<boolean> {
  const rows = await executor.execute(
    sql`select 1 from processes p where p.host = ${host} and p.dead_at is null and not ${isDead(times)} limit 1`,
  );
  return rows.length > 0;
}

/** The number of live processes. */
export async function countLive(executor: Executor, times: LeaseTimes): Promise<number> {
  const [row] = await executor.execute<{ count: number }>(
    sql`select count(*)::int as count from processes p where p.dead_at is null and not ${isDead(times)}`,
  );
  return row?.count ?? 0;
}

/** Called when a process ends. The next sweep takes over the contexts that it still owned. */
export async function unregister(executor: Executor, id: ProcessId): Promise<void> {
  await executor
    .update(processes)
    .set({ deadAt: sql`clock_timestamp()`, endReason: 'stopped' })
    .where(and(eq(processes.id, id), isNull(processes.deadAt)));
}

/** A process whose own heartbeat was late waits this many heartbeat timeouts before it declares others dead. */
const STEADY = 3;

/**
 * Marks processes that died since the last check, and terminates their remaining connections, because a frozen process
 * would keep its locks. After a pause or a network partition all heartbeats are late at once. So a process whose own
 * heartbeat was late recently declares only processes dead that sent none for twice the lease time. All others get time
 * to recover, and a fleet that is always late still detects dead processes.
 */
export async function declareDead(executor: Executor, times: LeaseTimes, judge: ProcessId): Promise<ProcessId[]> {
  const rows = await executor.execute<{ id: ProcessId; ended: number }>(sql`/* processes.declare_dead */
    with died as (
    update processes p set dead_at = clock_timestamp(), end_reason = 'lost'
    where p.id in (
      select p.id from processes p where p.dead_at is null and ${isDead(times)}
      order by p.id for update skip locked)
      and exists (
        select 1 from processes judge where judge.id = ${judge} and judge.dead_at is null
          and judge.heartbeat_at > clock_timestamp() - ${times.heartbeatTimeoutMs}::float8 * interval '1 millisecond'
          and (judge.late_at is null
            or judge.late_at < clock_timestamp() - ${times.heartbeatTimeoutMs * STEADY}::float8 * interval '1 millisecond'
            or p.heartbeat_at < clock_timestamp() - ${times.leaseMs * 2}::float8 * interval '1 millisecond'))
    returning p.id, p.session_name
    ), ended as materialized (
      select pg_terminate_backend(a.pid) from pg_stat_activity a
      where a.application_name in (select session_name from died)
        and a.usename = current_user and a.pid <> pg_backend_pid()
    )
    select died.id, (select count(*)::int from ended) as ended from died`);
  return rows.map((row) => row.id);
}

/**
 * In how many milliseconds the next process counts as dead: its lock is free already, and its heartbeat timeout passes
 * later, or has passed in the last `sinceMs`, after the last look for dead ones. Null: none. A look at
 * the locks is expensive, so a process with a heartbeat in the last `silentMs` is not looked at.
 */
export async function nextDeath(
  executor: Executor,
  { heartbeatTimeoutMs }: LeaseTimes,
  { silentMs, sinceMs }: { silentMs: number; sinceMs: number },
): Promise<number | null> {
  const [row] = await executor.execute<{ ms: number | null }>(sql`/* processes.next_death */
    select ceil(extract(epoch from min(dies.at) - clock_timestamp()) * 1000)::float8 as ms from (
      select ${TIMEOUT_BEGINS} + ${heartbeatTimeoutMs}::float8 * interval '1 millisecond' as at from processes p
      where p.dead_at is null and p.heartbeat_at <= clock_timestamp() - ${silentMs}::float8 * interval '1 millisecond'
        and not ${HOLDS_LOCK}) dies
    where dies.at > clock_timestamp() - ${sinceMs}::float8 * interval '1 millisecond'`);
  const ms = row?.ms ?? null;
  return ms === null ? null : Math.max(0, ms);
}

/** How many processes that ended more than an hour ago are kept, and for how many days at most. */
const HISTORY = { most: 100, days: 7 };

/**
 * Deletes processes that ended: all of the last hour stay, so that validation still knows what was last published, and
 * of the others the newest. Only those of the last hour keep their metrics, which may be large.
 */
export async function forgetEnded(executor: Executor): Promise<void> {
  await executor.execute(sql`/* processes.delete_ended */
    with older as materialized (
      select p.id, row_number() over (order by p.dead_at desc, p.id desc) > ${HISTORY.most}
        or p.dead_at < clock_timestamp() - ${HISTORY.days}::int * interval '1 day' as is_over
      from processes p where p.dead_at < clock_timestamp() - interval '1 hour'
    ), deleted as (
      delete from processes p using older o where p.id = o.id and o.is_over
        and not exists (select 1 from contexts c where c.lease_owner = p.id)
    )
    update processes p set metrics = null from older o where p.id = o.id and not o.is_over and p.metrics is not null`);
}

/** What the live processes have published; if none is alive, what the last one published. `begins`: it begins runs. */
export async function published(executor: Executor, times: LeaseTimes): Promise<(Published & { begins: boolean })[]> {
  const rows = await executor.execute<Published & { begins: boolean; live: boolean }>(sql`/* processes.read_published */
    select to_jsonb(p.tools) as tools, to_jsonb(p.roles) as roles, to_jsonb(p.models) as models,
      to_jsonb(p.mcp_servers) as "mcpServers", p.status = 'running' as begins,
      not ${isDead(times)} as live from processes p order by p.heartbeat_at desc limit 200`);
  const live = rows.filter((row) => row.live);
  return live.length > 0 ? live : rows.slice(0, 1);
}
