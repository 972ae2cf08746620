/**
 * The context's row as mailbox, lease and counter: claim, wake, revoke, and what is due. Every change is one guarded
 * statement. `c` is the row throughout.
 */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { ContextId, ProcessId, TenantId } from '../core/ids.ts';
import type { Lease } from '../core/snapshot.ts';
import type { DurableState } from '../core/state.ts';
import type { Millis } from '../core/time.ts';
import type { Executor } from './client.ts';
import { millis } from './instant.ts';

/** What the row says to whoever may write under its lease. */
export type ContextRow = {
  lease: Lease;
  state: DurableState;
  stopped: boolean;
  wakeSeq: number;
  controlSeq: number;
  barrenClaims: number;
  activeBranch: string;
  queued: number;
  steers: number;
  /** The database's clock. */
  now: Millis;
};

type Columns = {
  id: ContextId;
  tenant_id: TenantId;
  lease_epoch: number;
  state: DurableState;
  stopped: boolean;
  wake_seq: number;
  control_seq: number;
  barren_claims: number;
  active_branch: string;
  queued: number;
  steers: number;
  now: number;
};

const columns: SQL = sql`c.id, c.tenant_id, c.lease_epoch, c.state, c.stopped, c.wake_seq, c.control_seq,
  c.barren_claims, c.active_branch, c.queued, c.steers, ${millis(sql`clock_timestamp()`)} as now`;

function toRow(row: Columns): ContextRow {
  return {
    lease: { contextId: row.id, tenantId: row.tenant_id, epoch: row.lease_epoch },
    state: row.state,
    stopped: row.stopped,
    wakeSeq: row.wake_seq,
    controlSeq: row.control_seq,
    barrenClaims: row.barren_claims,
    activeBranch: row.active_branch,
    queued: row.queued,
    steers: row.steers,
    now: row.now,
  };
}

/**
 * Takes the lease where nobody has it and something is to be done; the leases of the dead are revoked by sweeps before.
 * Null: the doorbell was surplus, or the process that asks was declared dead. The row that comes back counts the barren
 * claims *before* this one.
 */
export async function claim(
  tx: Executor,
  contextId: ContextId,
  owner: ProcessId,
): Promise<ContextRow | null> {
  const [row] = await tx.execute<Columns>(sql`
    update contexts c set
      status = 'running', lease_owner = ${owner}, lease_epoch = c.lease_epoch + 1,
      sweep_at = null, barren_claims = c.barren_claims + 1
    where c.id = ${contextId} and (c.lease_owner is null)
      and (c.status = 'runnable' or (c.status = 'waiting' and c.sweep_at <= clock_timestamp()))
      and exists (select 1 from processes p where p.id = ${owner} and p.dead_at is null)
    returning ${columns}`);
  return row === undefined ? null : { ...toRow(row), barrenClaims: row.barren_claims - 1 };
}

/** The row as it is now. `lock` holds it until the transaction ends. Null: the context is gone. */
export async function read(
  executor: Executor,
  contextId: ContextId,
  lock: 'lock' | 'look' = 'look',
): Promise<ContextRow | null> {
  const [row] = await executor.execute<Columns>(
    sql`select ${columns} from contexts c where c.id = ${contextId} ${lock === 'lock' ? sql`for no key update` : sql``}`,
  );
  return row === undefined ? null : toRow(row);
}

/**
 * Raises the epoch of a lease under its holder: whatever it sent before and had no answer to can commit no more. Null:
 * the lease is lost.
 */
export async function renew(tx: Executor, { contextId, tenantId, epoch }: Lease): Promise<ContextRow | null> {
  const [row] = await tx.execute<Columns>(sql`
    update contexts c set lease_epoch = c.lease_epoch + 1
    where c.id = ${contextId} and c.tenant_id = ${tenantId} and c.lease_epoch = ${epoch}
      and c.lease_owner is not null
    returning ${columns}`);
  return row === undefined ? null : toRow(row);
}

/** Takes the leases of dead processes from their contexts. A job that keeps killing its process is waited with. */
export async function revoke(executor: Executor, most: number): Promise<number> {
  const rows = await executor.execute(sql`
    update contexts c set
      lease_owner = null, lease_epoch = c.lease_epoch + 1,
      status = case when c.barren_claims > 1 then 'waiting' else 'runnable' end,
      sweep_at = clock_timestamp() + case when c.barren_claims > 1
        then interval '250 milliseconds' * power(2, least(c.barren_claims, 10)) else interval '0' end
    where c.id in (
      select id from contexts where lease_owner in (select id from processes where dead_at is not null)
      order by id limit ${most} for update skip locked)
    returning c.id`);
  return rows.length;
}

/** A context that a sweep found due. */
export type Due =
  | { kind: 'claimable'; contextId: ContextId; wakeSeq: number; epoch: number }
  /** Its holder did not answer a wish in time. */
  | { kind: 'unanswered'; contextId: ContextId };

/**
 * What is due, at most `most`: wishes without an answer at once, the rest once it has been for `overdueMs`. Each is put off by `againMs`, so that another sweep does not take it up at once and one
 * whose finder dies is found again.
 */
export async function takeDue(
  executor: Executor,
  most: number,
  againMs: number,
  overdueMs: number,
): Promise<Due[]> {
  const rows = await executor.execute<{
    id: ContextId;
    status: string;
    wake_seq: number;
    lease_epoch: number;
  }>(sql`
    update contexts c set
      sweep_at = clock_timestamp() + ${againMs}::float8 * interval '1 millisecond',
      status = case when c.status = 'waiting' then 'runnable' else c.status end
    where c.id in (
      select id from contexts where sweep_at <= clock_timestamp()
        and (status = 'running' or sweep_at <= clock_timestamp() - ${overdueMs}::float8 * interval '1 millisecond')
      order by sweep_at limit ${most} for update skip locked)
    returning c.id, c.status, c.wake_seq, c.lease_epoch`);
  return rows.map((row) =>
    row.status === 'running'
      ? { kind: 'unanswered', contextId: row.id }
      : { kind: 'claimable', contextId: row.id, wakeSeq: row.wake_seq, epoch: row.lease_epoch },
  );
}

/**
 * Gives a lease back without a word: its run broke off, or never began. Left to others after `afterMs`; the claim keeps
 * counting as barren. `epoch`: of the lease that is meant; null where it never came to be known. False: there was none.
 */
export async function release(
  executor: Executor,
  contextId: ContextId,
  owner: ProcessId,
  epoch: number | null,
  afterMs: number,
): Promise<boolean> {
  const rows = await executor.execute(sql`
    update contexts c set lease_owner = null, lease_epoch = c.lease_epoch + 1, status = 'waiting',
      sweep_at = clock_timestamp() + ${afterMs}::float8 * interval '1 millisecond'
    where c.id = ${contextId} and c.lease_owner = ${owner}
      and (${epoch}::bigint is null or c.lease_epoch = ${epoch})
    returning c.id`);
  return rows.length > 0;
}

/**
 * A context that could not even be claimed, by a fault of ours: counted as barren, and left alone for longer each time, so
 * that it does not keep a fleet busy.
 */
export async function putOff(executor: Executor, contextId: ContextId): Promise<void> {
  await executor.execute(sql`
    update contexts c set barren_claims = least(c.barren_claims + 1, 1000), status = 'waiting',
      sweep_at = clock_timestamp() + interval '1 second' * power(2, least(c.barren_claims, 8))
    where c.id = ${contextId} and c.lease_owner is null and c.status in ('runnable', 'waiting')`);
}

/** What a process owns by the database's word. */
export async function owned(
  executor: Executor,
  owner: ProcessId,
): Promise<{ contextId: ContextId; epoch: number }[]> {
  const rows = await executor.execute<{ id: ContextId; lease_epoch: number }>(
    sql`select id, lease_epoch from contexts where lease_owner = ${owner}`,
  );
  return rows.map((row) => ({ contextId: row.id, epoch: row.lease_epoch }));
}
