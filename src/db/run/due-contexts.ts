/** Contexts that a sweep finds due, and leases of dead processes. `c` is the context's row throughout. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId } from '../../core/ids.ts';
import type { Executor } from '../connection/client.ts';
import { dueNow, nowInStatement } from '../connection/instant.ts';
import { columns, recordset } from '../rows/recordset.ts';

/** Whether the active job of `c` has a stop request. Stop requests are written under the row lock of `c`. */
const isStopRequested: SQL = sql`exists (
  select 1 from jobs j where j.context_id = c.id and j.status in ('running', 'waiting') and j.stop_kind is not null)`;

/** If a process ran at most this many contexts when it died, each of them is suspected to have killed it. */
const SUSPECTS = 4;

/**
 * Revokes the leases of dead processes. A context whose job keeps killing its process waits longer each time. It does
 * not wait if the process ran many contexts, because at most one of them killed it, or if the job has a stop request,
 * because ending it needs no run.
 */
export async function revoke(executor: Executor, most: number): Promise<number> {
  const rows = await executor.execute(sql`/* contexts.revoke */
    with dead as materialized (
      select id, lease_owner from contexts where lease_owner in (select id from processes where dead_at is not null)
      order by id limit ${most} for update skip locked
    ), suspect as (
      select d.id, count(*) over (partition by d.lease_owner) <= ${SUSPECTS} as alone from dead d
    ), judged as (
      select c.id, suspect.alone and c.failed_claims > 1 and not ${isStopRequested} as waits
      from contexts c join suspect on suspect.id = c.id
    )
    update contexts c set
      lease_owner = null, lease_epoch = c.lease_epoch + 1,
      scheduling_status = case when judged.waits then 'waiting' else 'runnable' end,
      next_check_at = ${dueNow} + case when judged.waits
        then interval '250 milliseconds' * power(2, least(c.failed_claims, 10)) else interval '0' end
    from judged where c.id = judged.id
    returning c.id`);
  return rows.length;
}

/** A context that a sweep found due. */
export type Due =
  | { kind: 'claimable'; contextId: ContextId; wakeSeq: number; epoch: number }
  /** No process owns it, and its job has a stop request: ending the job needs no slot. */
  | { kind: 'stop_requested'; contextId: ContextId }
  /** Its lease owner did not answer a stop request in time. */
  | { kind: 'unanswered'; contextId: ContextId };

/** What a sweep takes: at most `most` contexts, once they are overdue by `overdueMs`. It postpones each by `againMs`. */
type Taking = {
  most: number;
  againMs: number;
  overdueMs: number;
  /** The caller has a slot for each context and is about to claim them. */
  claims?: boolean;
  /** Contexts that the caller does not support, skipped until one of their counters changes. */
  passBy?: readonly Passed[];
};

type Passed = { contextId: ContextId; wakeSeq: number; controlSeq: number };

const PASSED = recordset(
  'p',
  columns<Passed>({
    context_id: ['uuid', ({ contextId }) => contextId],
    wake_seq: ['bigint', ({ wakeSeq }) => wakeSeq],
    control_seq: ['bigint', ({ controlSeq }) => controlSeq],
  }),
);

/**
 * Takes due contexts: unanswered stop requests at once, all others once they are overdue. Postpones each, so that
 * another sweep does not take it at once, and a sweep finds it again if this process dies. Already counts the claim
 * that follows: if reading the context kills the process, the count is committed.
 */
export async function takeDue(
  executor: Executor,
  { most, againMs, overdueMs, claims = false, passBy = [] }: Taking,
): Promise<Due[]> {
  const rows = await executor.execute<{
    id: ContextId;
    scheduling_status: string;
    wake_seq: number;
    lease_epoch: number;
    stop_requested: boolean;
  }>(sql`/* contexts.take_due */
    with due as materialized (
      select c.id from contexts c where c.next_check_at <= ${nowInStatement}
        and (c.scheduling_status = 'running' or ${isStopRequested}
          or c.next_check_at <= ${nowInStatement} - ${overdueMs}::float8 * interval '1 millisecond')
        and not exists (
          select 1 from ${PASSED.table(passBy)}
          where p.context_id = c.id and p.wake_seq = c.wake_seq and p.control_seq = c.control_seq)
      order by c.next_check_at limit ${most} for update skip locked
    )
    update contexts c set
      next_check_at = clock_timestamp() + ${againMs}::float8 * interval '1 millisecond',
      scheduling_status = case when c.scheduling_status = 'waiting' then 'runnable' else c.scheduling_status end,
      failed_claims = least(c.failed_claims + (${claims}::boolean and c.scheduling_status <> 'running' and not ${isStopRequested})::int, 1000)
    from due where c.id = due.id
    returning c.id, c.scheduling_status, c.wake_seq, c.lease_epoch, ${isStopRequested} as stop_requested`);
  return rows.map((row): Due => {
    const { id: contextId, wake_seq: wakeSeq, lease_epoch: epoch } = row;
    if (row.scheduling_status === 'running') return { kind: 'unanswered', contextId };
    return row.stop_requested
      ? { kind: 'stop_requested', contextId }
      : { kind: 'claimable', contextId, wakeSeq, epoch };
  });
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
