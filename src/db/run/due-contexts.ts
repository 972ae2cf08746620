/** Contexts that a sweep finds due, and leases of dead processes. `c` is the context's row throughout. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId } from '../../core/ids.ts';
import type { Executor } from '../connection/client.ts';
import { dueNow, nowInStatement } from '../connection/instant.ts';
import { atMost, isExactly } from '../rows/by-index.ts';
import { isPassedBy, type Passed } from './passed.ts';

/** Whether the active job of `c` has a stop request. Stop requests are written under the row lock of `c`. */
const isStopRequested: SQL = sql`exists (
  select 1 from jobs j where j.context_id = c.id and j.status in ('running', 'waiting') and j.stop_kind is not null)`;

/** If a process ran at most this many contexts when it died, each of them is suspected to have killed it. */
const SUSPECTS = 4;

/**
 * Revokes the leases of dead processes. A context whose job keeps killing its process waits longer each time. It does
 * not wait if the process ran many contexts, because at most one of them killed it, or if the job has a stop request,
 * because ending it needs no run: a sweep settles it.
 */
export async function revoke(executor: Executor, most: number): Promise<number> {
  const rows = await executor.execute(sql`/* contexts.revoke */
    with dead as materialized (
      -- Process by process: as one join, the planner may read all contexts that run, or all that there are.
      select c.id, c.lease_owner from processes p cross join lateral (
        select c.id, c.lease_owner from contexts c where ${isExactly(sql`c.lease_owner`, sql`p.id`)}
        order by c.lease_owner limit ${atMost(most)}
      ) c
      where p.dead_at is not null limit ${most} for no key update of c skip locked
    ), suspect as (
      select d.id, count(*) over (partition by d.lease_owner) <= ${SUSPECTS} as alone from dead d
    ), judged as (
      select c.id, suspect.alone and c.failed_claims > 1 and not stopped.yes as waits, stopped.yes as ends
      from contexts c join suspect on suspect.id = c.id, lateral (select ${isStopRequested} as yes) stopped
    )
    update contexts c set
      lease_owner = null, lease_epoch = c.lease_epoch + 1,
      scheduling_status = case when judged.waits or judged.ends then 'waiting' else 'runnable' end,
      next_check_at = ${dueNow} + case when judged.waits
        then interval '250 milliseconds' * power(2, least(c.failed_claims, 10)) else interval '0' end
    from judged where c.id = judged.id
    returning c.id`);
  return rows.length;
}

/** A context that a sweep found due. */
export type Due =
  /** Its wait is over: it is runnable now. */
  | { kind: 'runnable'; contextId: ContextId }
  /** No process owns it, and its job has a stop request: ending the job needs no slot. */
  | { kind: 'stop_requested'; contextId: ContextId }
  /** Its lease owner did not answer a stop request in time. */
  | { kind: 'unanswered'; contextId: ContextId };

/**
 * Takes contexts whose time has come, at most `most` of each kind: those whose wait is over become runnable, and keep
 * their place by it, unless the caller does not support them (`passBy`). The others are postponed by `againMs`, so that
 * another sweep does not take them at once, and a sweep finds them again if this process dies.
 */
export async function takeDue(
  executor: Executor,
  { most, againMs, passBy }: { most: number; againMs: number; passBy: readonly Passed[] },
): Promise<Due[]> {
  const rows = await executor.execute<{ id: ContextId; kind: Due['kind'] }>(sql`/* contexts.take_due */
    with timed as materialized (
      select c.id, case when c.scheduling_status = 'running' then 'unanswered'
          when ${isStopRequested} then 'stop_requested' else 'runnable' end as kind
      from contexts c
      where c.scheduling_status in ('waiting', 'running') and c.next_check_at <= ${nowInStatement}
        and not ${isPassedBy(passBy)}
      order by c.next_check_at limit ${most} for no key update of c skip locked
    ), stopping as materialized (
      select c.id, 'stop_requested' as kind from jobs j join contexts c on c.id = j.context_id
      where j.status in ('running', 'waiting') and j.stop_kind is not null
        and c.scheduling_status = 'runnable' and c.next_check_at <= ${nowInStatement}
      limit ${most} for no key update of c skip locked
    ), due as (
      select * from timed union all select * from stopping
    )
    update contexts c set
      scheduling_status = case due.kind when 'runnable' then 'runnable' else c.scheduling_status end,
      next_check_at = case due.kind when 'runnable' then c.next_check_at
        else clock_timestamp() + ${againMs}::float8 * interval '1 millisecond' end
    from due where c.id = due.id
    returning c.id, due.kind`);
  return rows.map(({ id, kind }) => ({ kind, contextId: id }));
}

/**
 * Takes an unowned context for the duration of the transaction, and raises its epoch. The caller must read the row
 * again. False: a process owns it by now, or there is nothing to do.
 */
export async function takeUnowned(tx: Executor, contextId: ContextId): Promise<boolean> {
  const rows = await tx.execute(sql`/* contexts.take_unowned */
    update contexts c set lease_epoch = c.lease_epoch + 1, control_seq = c.control_seq + 1
    where c.id = ${contextId} and c.lease_owner is null and c.scheduling_status in ('runnable', 'waiting')
    returning c.id`);
  return rows.length > 0;
}
