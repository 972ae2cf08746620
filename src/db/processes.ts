/**
 * Worker processes: one row for each incarnation, which carries the lease time of all contexts it runs. A process holds
 * the session advisory lock `lock_key` on the connection it beats on, from before its row exists until it ends.
 */
import { eq, sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { ContextId, ProcessId } from '../core/ids.ts';
import type { Json } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import type { Executor } from './client.ts';
import { encodeJson } from './codec.ts';
import { activeThrottles, toThrottles } from './throttles.ts';
import type { ActiveThrottle, ThrottlesColumn } from './throttles.ts';
import { millis } from './instant.ts';
import { processes } from './schema.ts';

/** How long a beat may be late before its process counts as dead, in milliseconds. */
export type LeaseTimes = {
  /** Where the lock is free: its connection ended. */
  heartbeatTimeoutMs: number;
  /** Where the lock is still held: a machine that vanished, a connection that went silent. */
  leaseMs: number;
};

export type ProcessRow = {
  id: ProcessId;
  lockKey: number;
  host: string;
  pid: number;
  /** The name of all its connections, which are ended once it is dead; without one they are not. */
  sessionName?: string;
  version: string;
  tools: string[];
  roles: string[];
  models: string[];
  mcpServers: string[];
};

/** What a live process, or the last one that lived, said it can serve. */
export type Published = { tools: string[]; roles: string[]; models: string[]; mcpServers: string[] };

/**
 * Whether the process `p` is dead: the one predicate. A server that was restarted has lost everybody's lock and heard
 * nobody meanwhile: a beat counts as missed only after it had the time to come again.
 */
export function isDead(times: LeaseTimes): SQL<boolean> {
  return sql<boolean>`(
    p.dead_at is not null
    or p.heartbeat_at < clock_timestamp() - ${times.leaseMs}::float8 * interval '1 millisecond'
    or (greatest(p.heartbeat_at, pg_postmaster_start_time())
        < clock_timestamp() - ${times.heartbeatTimeoutMs}::float8 * interval '1 millisecond'
      and not exists (
        select 1 from pg_locks l
        where l.locktype = 'advisory' and l.granted and l.objsubid = 1
          and l.database = (select oid from pg_database where datname = current_database())
          and l.classid = (p.lock_key >> 32)::oid and l.objid = (p.lock_key & 4294967295)::oid)))`;
}

/** Whether the context `c` is owned by nobody who lives. */
export function isUnowned(times: LeaseTimes): SQL<boolean> {
  return sql<boolean>`(c.lease_owner is null
    or not exists (select 1 from processes p where p.id = c.lease_owner and not ${isDead(times)}))`;
}

/**
 * Takes the process's lock on this connection, for as long as the connection lasts. Returns the server process that holds
 * it: a later beat by another one means that the lock is gone. Null: an older connection of ours is not quite dead.
 */
export async function takeLock(connection: Executor, lockKey: number): Promise<number | null> {
  const [row] = await connection.execute<{ pid: number; held: boolean }>(
    sql`/* processes.take_lock */ select pg_backend_pid() as pid, pg_try_advisory_lock(${lockKey}::bigint) as held`,
  );
  return row?.held === true ? row.pid : null;
}

export async function register(executor: Executor, row: ProcessRow): Promise<void> {
  await executor.insert(processes).values(row);
}

/** A context that this process runs and whose holder was told to look up: a wish waits for its answer. */
export type ControlSignal = { contextId: ContextId; controlSeq: number };

export type Heartbeat =
  | { kind: 'alive'; backendPid: number; now: Millis; signals: ControlSignal[]; throttles: ActiveThrottle[] }
  /** Somebody declared this incarnation dead: its leases are gone. */
  | { kind: 'dead' };

/**
 * One beat for all contexts of the process: says that it lives, hears who waits for an answer and which provider keys are
 * held back. One statement.
 */
export async function heartbeat(
  connection: Executor,
  id: ProcessId,
  { heartbeatTimeoutMs }: LeaseTimes,
): Promise<Heartbeat> {
  const rows = await connection.execute<{
    pid: number;
    now: number;
    context: ContextId | null;
    control: number | null;
    throttles: ThrottlesColumn;
  }>(sql`/* processes.heartbeat */
    with alive as (
      update processes set heartbeat_at = clock_timestamp(),
        late_at = case when heartbeat_at < clock_timestamp() - ${heartbeatTimeoutMs}::float8 * interval '1 millisecond'
          then clock_timestamp() else late_at end
      where id = ${id} and dead_at is null returning id
    )
    select pg_backend_pid() as pid, ${millis(sql`clock_timestamp()`)} as now, c.id as context, c.control_seq as control,
      ${activeThrottles} as throttles
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
    signals,
    throttles: toThrottles(first.throttles),
  };
}

/** More than this, in characters, is not kept. */
const MOST_FIGURES = 1_000_000;

/** Figures of a process that lives, as JSON. */
export async function leaveFigures(connection: Executor, id: ProcessId, figures: Json): Promise<void> {
  const text = encodeJson(figures);
  if (text.length > MOST_FIGURES) return;
  await connection.execute(
    sql`/* processes.record_metrics */ update processes set metrics = ${text}::jsonb where id = ${id} and dead_at is null`,
  );
}

/** Whether a process of the host is alive. */
export async function livesOn(executor: Executor, host: string, times: LeaseTimes): Promise<boolean> {
  const rows = await executor.execute(
    sql`select 1 from processes p where p.host = ${host} and p.dead_at is null and not ${isDead(times)} limit 1`,
  );
  return rows.length > 0;
}

/** The figures that live processes left, the newest processes first. */
export async function readFigures(
  executor: Executor,
  times: LeaseTimes,
): Promise<{ id: ProcessId; figures: Json }[]> {
  const rows = await executor.execute<{ id: ProcessId; metrics: Json }>(
    sql`select p.id, p.metrics from processes p where p.dead_at is null and not ${isDead(times)} order by p.id desc limit 500`,
  );
  return rows.map(({ id, metrics }) => ({ id, figures: metrics }));
}

/** The last word of a process that ends: whatever it still owned is taken over at the next sweep. */
export async function unregister(executor: Executor, id: ProcessId): Promise<void> {
  await executor
    .update(processes)
    .set({ deadAt: sql`clock_timestamp()` })
    .where(eq(processes.id, id));
}

/** So many times what counts as missed must have passed since a beat of one's own came late, before one judges others. */
const STEADY = 3;

/**
 * Marks processes that died since the last check, and terminates the connections they still have: a frozen process would
 * keep its locks. After a pause or a partition everybody's beats are late at once: a
 * process whose own was late a moment ago judges only who was not heard of for two leases, so that all have the time to
 * come back, and a fleet that is always late is not blind.
 */
export async function declareDead(
  executor: Executor,
  times: LeaseTimes,
  judge: ProcessId,
): Promise<ProcessId[]> {
  const rows = await executor.execute<{ id: ProcessId; ended: number }>(sql`/* processes.declare_dead */
    with died as (
    update processes p set dead_at = clock_timestamp()
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

/** Rows of the dead are kept for an hour, so that validation still knows what was last served. */
export async function forgetDead(executor: Executor): Promise<void> {
  await executor.execute(sql`/* processes.delete_dead */
    delete from processes p where p.dead_at < clock_timestamp() - interval '1 hour'
      and not exists (select 1 from contexts c where c.lease_owner = p.id)`);
}

/** What the live processes serve; where none lives, what the last ones served. */
export async function published(executor: Executor, times: LeaseTimes): Promise<Published[]> {
  const rows = await executor.execute<Published & { live: boolean }>(sql`/* processes.read_published */
    select to_jsonb(p.tools) as tools, to_jsonb(p.roles) as roles, to_jsonb(p.models) as models,
      to_jsonb(p.mcp_servers) as "mcpServers", not ${isDead(times)} as live from processes p order by p.heartbeat_at desc limit 200`);
  const live = rows.filter((row) => row.live);
  return live.length > 0 ? live : rows.slice(0, 1);
}
