/** Claims: a worker process takes the free lease of a context. `c` is the context's row throughout. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, ProcessId } from '../../core/ids.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { contextColumns, toContextRow, type ContextColumns, type ContextRow } from './contexts.ts';
import { hasSlotLimit, runningContexts, slotLimit } from '../processes/slots.ts';

/**
 * Takes the lease if it is free and the context has work. Sweeps revoke the leases of dead processes before. Null:
 * there is nothing to claim (the claim is a noop), its tenant is not active or has a limit of slots, or `owner` was declared dead. The returned row has the failed claims
 * *before* this claim.
 */
export async function claim(tx: Executor, contextId: ContextId, owner: ProcessId): Promise<ContextRow | null> {
  const [row] = await tx.execute<ContextColumns>(
    sql`/* contexts.claim */ ${claimUpdate(sql`(select ${contextId}::uuid as id) free`, owner)}`,
  );
  return row === undefined ? null : toClaimed(row);
}

/**
 * Takes the lease within the limit of the tenant's slots. Locks the row of the tenant first: its claims wait for each
 * other, in all processes. Null: as in `claim`, or the tenant has its limit, or none.
 */
export async function claimWithinSlots(
  tx: Executor,
  contextId: ContextId,
  owner: ProcessId,
  ofFile: number | null,
): Promise<ContextRow | null> {
  const limit = slotLimit(ofFile);
  // One round trip. The second statement sees what was claimed before the first got its lock.
  const [, [row]] = await Promise.all([
    tx.execute(sql`/* contexts.lock_slots */
      select 1 from contexts c join tenants t on t.id = c.tenant_id
      where c.id = ${contextId} and ${isClaimable} and t.status = 'active' and ${limit} is not null
      for no key update of t`),
    tx.execute<ContextColumns>(
      sql`/* contexts.claim_within_slots */ ${claimUpdate(
        sql`(select ${contextId}::uuid as id) free`,
        owner,
        sql`exists (select 1 from tenants t
        where t.id = c.tenant_id and t.status = 'active' and ${limit} > ${runningContexts})`,
      )}`,
    ),
  ]);
  return row === undefined ? null : toClaimed(row);
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
