/** Claims: a worker process takes the free lease of a context. `c` is the context's row throughout. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, ProcessId } from '../../core/ids.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { contextColumns, toContextRow, type ContextColumns, type ContextRow } from './contexts.ts';
import { hasSlotLimit, runningContexts, slotLimit } from '../processes/slots.ts';

/**
 * Takes the lease if it is free and the context has work. Sweeps revoke the leases of dead processes before. Null: there
 * is nothing to claim (the claim is a noop), its tenant is not active or has a limit of slots, or `owner` was declared
 * dead. The returned row has the failed claims *before* this claim.
 */
export async function claim(tx: Executor, contextId: ContextId, owner: ProcessId): Promise<ContextRow | null> {
  const [row] = await tx.execute<ContextColumns>(
    sql`/* contexts.claim */ ${claimUpdate(sql`(select ${contextId}::uuid as id) free`, owner)}`,
  );
  return row === undefined ? null : toClaimed(row);
}

/** Nothing was done: another claim of the tenant is under way (`busy`), or the row is locked (`locked`). */
export type LimitedClaim = { kind: 'claimed'; row: ContextRow } | { kind: 'busy' | 'locked' | 'noop' };

/** In the transaction, whether it has the lock under which the slots of the tenant are counted and taken. */
const SLOTS_SETTING = 'nightshift.slots';

/**
 * Takes the lease within the limit of the tenant's slots, counted over all processes. One claim of a tenant at a time
 * does so; none waits, neither for the tenant nor for the row. Commit at once: the lock lasts until then. A tenant that
 * has its limit takes no lock. `noop`: as in `claim`, or the tenant has its limit, or none. `ofFile`: the limit of
 * tenants without one of their own; null: none.
 */
export async function claimWithinSlots(
  tx: Executor,
  contextId: ContextId,
  owner: ProcessId,
  ofFile: number | null,
): Promise<LimitedClaim> {
  const limit = slotLimit(ofFile);
  const hasRoom = sql`t.id = c.tenant_id and t.status = 'active' and ${limit} > ${runningContexts}`;
  // One round trip. The second statement sees what was claimed before the first got the lock.
  const [[tried], [row]] = await Promise.all([
    tx.execute<{ lock: 'true' | 'false' | 'locked' }>(sql`/* contexts.try_slots */
      select case when free.id is null then 'locked' else set_config(${SLOTS_SETTING},
        pg_try_advisory_xact_lock(hashtextextended('nightshift.slots ' || t.id, 0))::text, true) end as lock
      from contexts c join tenants t on ${hasRoom}
      left join lateral (
        select l.id from contexts l where l.id = c.id for no key update skip locked
      ) free on true
      where c.id = ${contextId} and ${isClaimable}`),
    tx.execute<ContextColumns>(
      sql`/* contexts.claim_within_slots */ ${claimUpdate(
        sql`(select ${contextId}::uuid as id where current_setting(${SLOTS_SETTING}, true) = 'true') free`,
        owner,
        sql`exists (select 1 from tenants t where ${hasRoom})`,
      )}`,
    ),
  ]);
  if (row !== undefined) return { kind: 'claimed', row: toClaimed(row) };
  if (tried?.lock === 'locked') return { kind: 'locked' };
  return { kind: tried?.lock === 'false' ? 'busy' : 'noop' };
}

/** Claims many contexts. Skips rows that another transaction has locked, and contexts with failed claims. */
export async function claimFree(
  tx: Executor,
  contextIds: readonly ContextId[],
  owner: ProcessId,
): Promise<ContextRow[]> {
  const rows = await tx.execute<ContextColumns>(sql`/* contexts.claim_many */
    with free as materialized (
      select f.id from jsonb_array_elements_text(${encodeJson(contextIds)}::jsonb) as wanted(id)
      join contexts f on f.id = wanted.id::uuid
      -- Always true. It makes the planner expect few rows and find each context by its id.
      where wanted.id || '' = wanted.id and f.failed_claims = 0
      for no key update of f skip locked
    ) ${claimUpdate(sql`free`, owner)}`);
  return rows.map(toClaimed);
}

/**
 * The given contexts that `owner` now leases, for statements sent in the same round trip as the claim (see `places`).
 */
export function leasedBy(contextIds: readonly ContextId[], owner: ProcessId): SQL {
  return sql`(
    select c.id as context_id, c.tenant_id as tenant, c.active_branch as branch, c.steers
    from jsonb_array_elements_text(${encodeJson(contextIds)}::jsonb) as wanted(id)
    join contexts c on c.id = wanted.id::uuid
    -- Always true, as in a claim: the planner then finds each context by its id.
    where wanted.id || '' = wanted.id and c.lease_owner = ${owner} and c.scheduling_status = 'running'
  ) at`;
}

const isClaimable: SQL = sql`(c.lease_owner is null)
      and (c.scheduling_status = 'runnable' or (c.scheduling_status = 'waiting' and c.next_check_at <= clock_timestamp()))`;

/** The tenant is active, and its slots are not limited. */
const IS_UNLIMITED: SQL = sql`not exists (select 1 from tenants t
        where t.id = c.tenant_id and (t.status <> 'active' or ${hasSlotLimit}))`;

/** The update that claims the contexts of `from`, a relation named `free` with their ids. */
function claimUpdate(from: SQL, owner: ProcessId, mayRun: SQL = IS_UNLIMITED): SQL {
  return sql`update contexts c set
      scheduling_status = 'running', lease_owner = ${owner}, lease_epoch = c.lease_epoch + 1,
      next_check_at = null, failed_claims = least(c.failed_claims + 1, 1000)
    from ${from}
    where c.id = free.id and ${isClaimable}
      and exists (select 1 from processes p where p.id = ${owner} and p.dead_at is null)
      and ${mayRun}
    returning ${contextColumns}`;
}

function toClaimed(row: ContextColumns): ContextRow {
  return { ...toContextRow(row), failedClaims: row.failedClaims - 1 };
}
