/**
 * The context's row as mailbox, lease and counter: claim, wake, revoke, and finding due contexts. Every change is one
 * guarded statement. `c` is the context's row throughout.
 */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { ContextId, ProcessId, TenantId } from '../../core/ids.ts';
import type { Lease } from '../../core/run/snapshot.ts';
import type { DurableState } from '../../core/run/state.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { dueNow, millis, nowInStatement } from '../connection/instant.ts';

/** The context's row, as a run reads it. */
export type ContextRow = {
  lease: Lease;
  state: DurableState;
  stopped: boolean;
  headSeq: number;
  wakeSeq: number;
  controlSeq: number;
  failedClaims: number;
  activeBranch: string;
  queued: number;
  steers: number;
  /** The database's time. */
  now: Millis;
};

export type Columns = {
  id: ContextId;
  tenant_id: TenantId;
  lease_epoch: number;
  state: DurableState;
  stopped: boolean;
  head_seq: number;
  wake_seq: number;
  control_seq: number;
  failed_claims: number;
  active_branch: string;
  queued: number;
  steers: number;
  now: number;
};

export const columns: SQL = sql`c.id, c.tenant_id, c.lease_epoch, c.state, c.stopped, c.head_seq, c.wake_seq, c.control_seq,
  c.failed_claims, c.active_branch, c.queued, c.steers, ${millis(sql`clock_timestamp()`)} as now`;

export function toRow(row: Columns): ContextRow {
  return {
    lease: { contextId: row.id, tenantId: row.tenant_id, epoch: row.lease_epoch },
    state: row.state,
    stopped: row.stopped,
    headSeq: row.head_seq,
    wakeSeq: row.wake_seq,
    controlSeq: row.control_seq,
    failedClaims: row.failed_claims,
    activeBranch: row.active_branch,
    queued: row.queued,
    steers: row.steers,
    now: row.now,
  };
}

/** The current row. `lock` locks it until the transaction ends. Null: the context does not exist. */
export async function read(
  executor: Executor,
  contextId: ContextId,
  lock: 'lock' | 'look' = 'look',
): Promise<ContextRow | null> {
  const [row] = await executor.execute<Columns>(
    sql`/* contexts.read */ select ${columns} from contexts c where c.id = ${contextId} ${lock === 'lock' ? sql`for no key update` : sql``}`,
  );
  return row === undefined ? null : toRow(row);
}

/**
 * Raises the epoch of a lease for its current owner, so that statements it sent earlier without an answer can no longer
 * commit. Null: the lease is lost. `again`: the owner, if an earlier try got no answer; a higher epoch may then be its
 * own.
 */
export async function renew(
  tx: Executor,
  { contextId, tenantId, epoch }: Lease,
  again: ProcessId | null = null,
): Promise<ContextRow | null> {
  const [row] = await tx.execute<Columns>(sql`/* contexts.renew_lease */
    update contexts c set lease_epoch = c.lease_epoch + 1
    where c.id = ${contextId} and c.tenant_id = ${tenantId} and c.lease_owner is not null
      and (c.lease_epoch = ${epoch} or (c.lease_epoch > ${epoch} and c.lease_owner = ${again}::uuid))
    returning ${columns}`);
  return row === undefined ? null : toRow(row);
}

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
    with dead as (
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
export type Taking = {
  most: number;
  againMs: number;
  overdueMs: number;
  /** The caller has a slot for each context and is about to claim them. */
  claims?: boolean;
  /** Contexts that the caller does not support, skipped until one of their counters changes. */
  passBy?: readonly { contextId: ContextId; wakeSeq: number; controlSeq: number }[];
};

/**
 * Takes due contexts: unanswered stop requests at once, all others once they are overdue. Postpones each, so that another
 * sweep does not take it at once, and a sweep finds it again if this process dies. Already counts the claim that follows: if reading the context kills the process, the count is
 * committed.
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
    update contexts c set
      next_check_at = clock_timestamp() + ${againMs}::float8 * interval '1 millisecond',
      scheduling_status = case when c.scheduling_status = 'waiting' then 'runnable' else c.scheduling_status end,
      failed_claims = least(c.failed_claims + (${claims}::boolean and c.scheduling_status <> 'running' and not ${isStopRequested})::int, 1000)
    where c.id in (
      select c.id from contexts c where c.next_check_at <= ${nowInStatement}
        and (c.scheduling_status = 'running' or ${isStopRequested}
          or c.next_check_at <= ${nowInStatement} - ${overdueMs}::float8 * interval '1 millisecond')
        and not exists (
          select 1 from jsonb_to_recordset(${encodeJson(passBy)}::jsonb)
            as p("contextId" uuid, "wakeSeq" bigint, "controlSeq" bigint)
          where p."contextId" = c.id and p."wakeSeq" = c.wake_seq and p."controlSeq" = c.control_seq)
      order by c.next_check_at limit ${most} for update skip locked)
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
export async function takeUnheld(tx: Executor, contextId: ContextId): Promise<boolean> {
  const rows = await tx.execute(sql`/* contexts.take_unowned */
    update contexts c set lease_epoch = c.lease_epoch + 1, control_seq = c.control_seq + 1
    where c.id = ${contextId} and c.lease_owner is null and c.scheduling_status in ('runnable', 'waiting')
    returning c.id`);
  return rows.length > 0;
}

/**
 * Releases a lease whose run was aborted or never started. Other processes may claim the context after `afterMs`; the
 * claim stays counted as failed. `epoch`: of the lease; null if the caller never learned it. False: there was no such
 * lease.
 */
export async function release(
  executor: Executor,
  { contextId, owner, epoch }: { contextId: ContextId; owner: ProcessId; epoch: number | null },
  afterMs: number,
): Promise<boolean> {
  const rows = await executor.execute(sql`/* contexts.release */
    update contexts c set lease_owner = null, lease_epoch = c.lease_epoch + 1, scheduling_status = 'waiting',
      next_check_at = ${dueNow} + ${afterMs}::float8 * interval '1 millisecond'
    where c.id = ${contextId} and c.lease_owner = ${owner}
      and (${epoch}::bigint is null or c.lease_epoch = ${epoch})
    returning c.id`);
  return rows.length > 0;
}

/**
 * Postpones a context whose claim failed because of an internal error. Counts a failed claim and waits longer each
 * time, so that the context does not keep the worker processes busy. `counted`: see `claim`.
 */
export async function putOff(
  executor: Executor,
  contextId: ContextId,
  counted: number | null,
): Promise<void> {
  await executor.execute(sql`/* contexts.postpone */
    update contexts c set scheduling_status = 'waiting',
      failed_claims = least(c.failed_claims + case when c.lease_epoch = ${counted}::bigint then 0 else 1 end, 1000),
      next_check_at = clock_timestamp() + interval '1 second' * power(2, least(c.failed_claims, 8))
    where c.id = ${contextId} and c.lease_owner is null and c.scheduling_status in ('runnable', 'waiting')`);
}

/** The contexts that a process owns according to the database. */
export async function owned(
  executor: Executor,
  owner: ProcessId,
): Promise<{ contextId: ContextId; epoch: number }[]> {
  const rows = await executor.execute<{ id: ContextId; lease_epoch: number }>(
    sql`/* contexts.list_owned */ select id, lease_epoch from contexts where lease_owner = ${owner}`,
  );
  return rows.map((row) => ({ contextId: row.id, epoch: row.lease_epoch }));
}
