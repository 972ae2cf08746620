/**
 * The context's row as mailbox, lease and counter: reading, renewing and releasing. Every change is one guarded
 * statement. `c` is the context's row throughout.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, ProcessId } from '../../core/ids.ts';
import type { Lease } from '../../core/run/snapshot.ts';
import type { DurableState } from '../../core/run/state.ts';
import type { Allow } from '../../core/access/tenant.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../connection/client.ts';
import { dueNow, millis } from '../connection/instant.ts';

/** The context's row, as a run reads it. */
export type ContextRow = {
  lease: Lease;
  /** What its tenant may use. */
  allow: Allow;
  isTenantActive: boolean;
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

export type ContextColumns = Lease & Omit<ContextRow, 'lease'>;

/** Whether the tenant of the context `c` is suspended, or being deleted. */
export const isOfInactive: SQL = sql`exists (
    select 1 from tenants t where t.id = c.tenant_id and t.status <> 'active')`;

/** The row of a tenant is deleted after its contexts. */
export const contextColumns: SQL = sql`c.id as "contextId", c.tenant_id as "tenantId", c.user_name as "user",
  (select t.name from tenants t where t.id = c.tenant_id) as "tenantName",
  (select t.allow from tenants t where t.id = c.tenant_id) as allow,
  not ${isOfInactive} as "isTenantActive",
  (select t.notifies from tenants t where t.id = c.tenant_id) as notifies,
  c.lease_epoch as epoch, c.state, c.stopped, c.head_seq as "headSeq", c.wake_seq as "wakeSeq",
  c.control_seq as "controlSeq", c.failed_claims as "failedClaims", c.active_branch as "activeBranch", c.queued, c.steers,
  ${millis(sql`clock_timestamp()`)} as now`;

export function toContextRow(columns: ContextColumns): ContextRow {
  const { contextId, tenantId, tenantName, user, notifies, epoch, ...row } = columns;
  return { lease: { contextId, tenantId, tenantName, user, notifies, epoch }, ...row };
}

/** The context's row after a command was accepted. */
export type ChangedContext = {
  headSeq: number;
  wakeSeq: number;
  epoch: number;
  /** No process runs the context, and it is due: the caller must send a wake-up. */
  runnable: boolean;
};

/** Of the updated row `ctx`. */
export const changedContextColumns: SQL = sql`ctx.head_seq as "headSeq", ctx.wake_seq as "wakeSeq", ctx.lease_epoch as epoch,
  ctx.scheduling_status = 'runnable' as runnable`;

/** The current row. `lock` locks it until the transaction ends. Null: the context does not exist. */
export async function read(
  executor: Executor,
  contextId: ContextId,
  lock: 'lock' | 'look' = 'look',
): Promise<ContextRow | null> {
  const [row] = await executor.execute<ContextColumns>(
    sql`/* contexts.read */ select ${contextColumns} from contexts c where c.id = ${contextId} ${lock === 'lock' ? sql`for no key update` : sql``}`,
  );
  return row === undefined ? null : toContextRow(row);
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
  const [row] = await tx.execute<ContextColumns>(sql`/* contexts.renew_lease */
    update contexts c set lease_epoch = c.lease_epoch + 1
    where c.id = ${contextId} and c.tenant_id = ${tenantId} and c.lease_owner is not null
      and (c.lease_epoch = ${epoch} or (c.lease_epoch > ${epoch} and c.lease_owner = ${again}::uuid))
    returning ${contextColumns}`);
  return row === undefined ? null : toContextRow(row);
}

/**
 * Releases a lease whose run was aborted or never started. Other processes may claim the context after `afterMs`, and
 * after twice as long with each failed claim in a row. `counts`: whether the claim stays counted as failed. `epoch`: of
 * the lease; null if the caller never learned it. False: there was no such lease.
 */
export async function release(
  executor: Executor,
  { contextId, owner, epoch }: { contextId: ContextId; owner: ProcessId; epoch: number | null },
  afterMs: number,
  counts = true,
): Promise<boolean> {
  const rows = await executor.execute(sql`/* contexts.release */
    update contexts c set lease_owner = null, lease_epoch = c.lease_epoch + 1, scheduling_status = 'waiting',
      failed_claims = case when ${counts}::boolean then c.failed_claims else greatest(c.failed_claims - 1, 0) end,
      next_check_at = ${dueNow}
        + ${afterMs}::float8 * interval '1 millisecond' * power(2, least(greatest(c.failed_claims - 1, 0), 5))
    where c.id = ${contextId} and c.lease_owner = ${owner}
      and (${epoch}::bigint is null or c.lease_epoch = ${epoch})
    returning c.id`);
  return rows.length > 0;
}

/**
 * Postpones a context whose claim failed because of an internal error. Counts a failed claim and waits longer each
 * time, so that the context does not keep the worker processes busy.
 */
export async function postpone(executor: Executor, contextId: ContextId): Promise<void> {
  await executor.execute(sql`/* contexts.postpone */
    update contexts c set scheduling_status = 'waiting',
      failed_claims = least(c.failed_claims + 1, 1000),
      next_check_at = clock_timestamp() + interval '1 second' * power(2, least(c.failed_claims, 8))
    where c.id = ${contextId} and c.lease_owner is null and c.scheduling_status in ('runnable', 'waiting')`);
}

/** The contexts that a process owns according to the database. */
export async function owned(executor: Executor, owner: ProcessId): Promise<{ contextId: ContextId; epoch: number }[]> {
  return executor.execute<{ contextId: ContextId; epoch: number }>(sql`/* contexts.list_owned */
    select id as "contextId", lease_epoch as epoch from contexts where lease_owner = ${owner}`);
}
