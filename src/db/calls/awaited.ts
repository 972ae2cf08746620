/**
 * Calls that wait for jobs of other workers. A statement that ends a job also decrements, in the same commit, the
 * `needs` of the calls that wait for it. A separate statement wakes their context afterwards. Locks are taken on
 * context rows first, then on call rows in the order of their ids. This order prevents deadlocks between transactions
 * that count down for jobs of many contexts and transactions that close their own calls.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, TenantId, ToolCallId, WorkerId } from '../../core/ids.ts';
import type { Executor } from '../connection/client.ts';
import { WAKE_UP_GRACE_MS } from '../connection/instant.ts';
import { columns, recordset } from '../rows/recordset.ts';

/** For statements that change no calls of their own. */
export const NONE_OWN: SQL = sql`(select null::uuid as id where false)`;

/**
 * Common table expressions for a statement that ends jobs. `ended`: those jobs, as `(id, context_id, tenant_id)`.
 * `own`: calls that the statement itself changes and that may wait for workers, as `(id)`; their update must include
 * `${LOCK_FIRST}` in its condition. `counted(context_id, needs, ended_in)` lists the calls whose `needs` decreased.
 */
export function countdown(ended: SQL, own: SQL): SQL {
  return sql`touched as materialized (
      select x.id, sum(x.n)::int as n, bool_or(x.own) as own, (array_agg(x.ended_in))[1] as ended_in from (
        select a.tool_call_id as id, 1 as n, false as own, e.context_id as ended_in from ${ended} e cross join lateral (
          select a.tool_call_id from awaited_jobs a where a.job_id = e.id and a.tenant_id = e.tenant_id offset 0) a
        union all
        select o.id, 0, true, null from ${own} o
      ) x group by x.id order by x.id
    ), locked as materialized (
      select t.id, x.n, x.own, x.ended_in from touched x cross join lateral (
        select t.id from tool_calls t where t.id = x.id for no key update) t
    ), counted as (
      update tool_calls t set needs = t.needs - h.n from locked h
      -- Always true, as in an append: the planner then finds each call by its id.
      where h.n + 0 = h.n and t.id = h.id and h.n > 0 and not h.own and t.status = 'waiting' and t.waits_for = 'workers'
      returning t.context_id, t.needs, h.ended_in
    )`;
}

/** A condition that is always true. Evaluating it locks every call that the countdown locks. */
export const LOCK_FIRST: SQL = sql`(select count(*) from locked) >= 0`;

/** Contexts whose calls need nothing more because jobs ended in the context `of`, as JSON. */
export function metBy(of: SQL): SQL {
  return sql`(select jsonb_agg(distinct k.context_id) from counted k where k.ended_in = ${of} and k.needs <= 0)`;
}

/**
 * Locks, in the order of their ids, all calls that the end of this context's jobs may change. For a transaction that
 * ends some of these jobs in more than one statement. The caller has locked the context's row.
 */
export async function lockCalls(tx: Executor, tenantId: TenantId, contextId: ContextId): Promise<void> {
  await tx.execute(sql`/* tool_calls.lock_awaiting */
    select t.id from tool_calls t where t.tenant_id = ${tenantId} and t.id in (
      select a.tool_call_id from awaited_jobs a join jobs j on j.id = a.job_id
      where j.context_id = ${contextId} and j.finished_at is null
      union
      select a.tool_call_id from awaited_jobs a where a.context_id = ${contextId})
    order by t.id for no key update`);
}

/** Counts down for the unfinished jobs of a deleted context. Its calls are locked. Returns the contexts to wake. */
export async function countOut(tx: Executor, tenantId: TenantId, contextId: ContextId): Promise<ContextId[]> {
  const [row] = await tx.execute<{ met: ContextId[] | null }>(sql`/* tool_calls.count_down */
    with ended as (
      select j.id, j.context_id, j.tenant_id from jobs j
      where j.context_id = ${contextId} and j.tenant_id = ${tenantId} and j.finished_at is null
    ), ${countdown(sql`ended`, NONE_OWN)}
    select ${metBy(sql`${contextId}::uuid`)} as met`);
  return row?.met ?? [];
}

/** A call that waits for jobs that already existed. `any`: it needs only the first of them to end. */
export type Recounted = { callId: ToolCallId; any: boolean };

const RECOUNTED = recordset(
  'r',
  columns<Recounted>({
    call_id: ['uuid', ({ callId }) => callId],
    needs_any: ['boolean', ({ any }) => any],
  }),
);

/**
 * Recomputes `needs` of calls, because a job may have ended while the call was being registered and so not counted
 * down. Runs in a transaction: once a call is locked, every other countdown has either committed or runs after this
 * one. True: at least one of the calls needs nothing more.
 */
export async function recount(
  tx: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  calls: readonly Recounted[],
): Promise<boolean> {
  const asked = RECOUNTED.table(calls);
  await tx.execute(sql`/* tool_calls.lock_waiting */
    select t.id from tool_calls t where t.context_id = ${contextId} and t.tenant_id = ${tenantId}
      and t.status = 'waiting' and t.id in (select r.call_id from ${asked}) order by t.id for no key update`);
  const rows = await tx.execute<{ needs: number }>(sql`/* tool_calls.recount */
    update tool_calls t set needs = case when r.needs_any then (n.unfinished = n.awaited)::int else n.unfinished end
    from ${asked} cross join lateral (
      select count(*)::int as awaited, count(j.id)::int as unfinished
      from awaited_jobs a left join jobs j on j.id = a.job_id and j.finished_at is null
      where a.tool_call_id = r.call_id) n
    where t.id = r.call_id and t.context_id = ${contextId} and t.tenant_id = ${tenantId} and t.status = 'waiting'
      and t.waits_for = 'workers'
    returning t.needs`);
  return rows.some(({ needs }) => needs <= 0);
}

type Woken = { contextId: ContextId; wakeSeq: number; epoch: number };

/** Of the updated row `c`. */
const wokenColumns: SQL = sql`c.id as "contextId", c.wake_seq as "wakeSeq", c.lease_epoch as epoch`;

/**
 * Wakes a context that has a call which needs nothing more. If a run owns its lease and is about to park, the raised
 * `wake_seq` makes the guard of that park fail. Null: no wake-up has to be sent.
 */
export async function wakeMet(executor: Executor, contextId: ContextId): Promise<Woken | null> {
  const [row] = await executor.execute<Woken & { runnable: boolean }>(sql`/* contexts.wake */
    update contexts c set
      wake_seq = c.wake_seq + 1,
      scheduling_status = case when c.scheduling_status = 'waiting' then 'runnable' else c.scheduling_status end,
      next_check_at = case when c.scheduling_status = 'waiting'
        then clock_timestamp() + ${WAKE_UP_GRACE_MS}::float8 * interval '1 millisecond' else c.next_check_at end
    where c.id = ${contextId} and c.scheduling_status in ('waiting', 'running') and ${hasMet}
    returning ${wokenColumns}, c.scheduling_status = 'runnable' as runnable`);
  if (row === undefined) return null;
  const { runnable, ...woken } = row;
  return runnable ? woken : null;
}

const hasMet: SQL = sql`(select true from tool_calls t where t.context_id = c.id and t.status = 'waiting'
  and t.needs <= 0 limit 1) is not null`;

/**
 * Wakes contexts whose wake-up was lost because its sender died. Contexts that are postponed for another reason (no
 * process supports them, or their job kills its processes) become due by themselves within minutes, and are skipped for
 * that long.
 */
export async function wakeForgotten(executor: Executor, most: number): Promise<Woken[]> {
  return executor.execute<Woken>(sql`/* contexts.wake_missed */
    with met as materialized (
      select distinct t.context_id from tool_calls t where t.status = 'waiting' and t.needs <= 0 limit ${most}
    ), missed as materialized (
      select c.id from met join contexts c on c.id = met.context_id
      where c.scheduling_status = 'waiting' and ((c.failed_claims < 2 and c.next_check_at > clock_timestamp() + interval '3 seconds')
        or c.next_check_at > clock_timestamp() + interval '5 minutes')
      for no key update of c skip locked
    )
    update contexts c set wake_seq = c.wake_seq + 1, scheduling_status = 'runnable',
      next_check_at = clock_timestamp() + ${WAKE_UP_GRACE_MS}::float8 * interval '1 millisecond'
    from missed where c.id = missed.id
    returning ${wokenColumns}`);
}

/** Most workers returned per context. */
const MOST_SHOWN = 100;

/** A worker that a call waits for. */
export type AwaitedWorker = { id: ToolCallId; name: string; workerId: WorkerId };

/** Unfinished workers that calls of a context wait for, as JSON, oldest calls first; null: none. */
export function awaitedWorkers(contextId: SQL): SQL {
  return sql`(select jsonb_agg(jsonb_build_object('id', u.id, 'name', u.name, 'workerId', u.worker_id)
      order by u.asked_at, u.call_place, u.ordinal) from (
    select t.id, t.name, a.worker_id, t.asked_at, t.ordinal as call_place, a.ordinal
    from awaited_jobs a join tool_calls t on t.id = a.tool_call_id and t.status = 'waiting'
    join jobs j on j.id = a.job_id and j.finished_at is null
    where a.context_id = ${contextId} order by t.asked_at, t.ordinal, a.ordinal limit ${MOST_SHOWN}) u)`;
}
