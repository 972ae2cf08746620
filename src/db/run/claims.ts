/** Claims: a worker process takes the free lease of a context. `c` is the context's row throughout. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, ProcessId } from '../../core/ids.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { contextColumns, toContextRow, type ContextColumns, type ContextRow } from './contexts.ts';

/**
 * Takes the lease if it is free and the context has work. Sweeps revoke the leases of dead processes before. Null:
 * there is nothing to claim (the claim is a noop), or `owner` was declared dead. The returned row has the failed claims
 * *before* this claim. `counted`: the epoch under which a sweep already counted this claim in its own commit; null: not
 * counted yet.
 */
export async function claim(
  tx: Executor,
  contextId: ContextId,
  owner: ProcessId,
  counted: number | null = null,
): Promise<ContextRow | null> {
  const [row] = await tx.execute<ContextColumns>(
    sql`/* contexts.claim */ ${claimUpdate(sql`(select ${contextId}::uuid as id) free`, owner, counted)}`,
  );
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
    ) ${claimUpdate(sql`free`, owner, null)}`);
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

/** The update that claims the contexts of `from`, a relation named `free` with their ids. */
function claimUpdate(from: SQL, owner: ProcessId, counted: number | null): SQL {
  return sql`update contexts c set
      scheduling_status = 'running', lease_owner = ${owner}, lease_epoch = c.lease_epoch + 1,
      next_check_at = null,
      failed_claims = c.failed_claims + case when c.lease_epoch = ${counted}::bigint then 0 else 1 end
    from ${from}
    where c.id = free.id and (c.lease_owner is null)
      and (c.scheduling_status = 'runnable' or (c.scheduling_status = 'waiting' and c.next_check_at <= clock_timestamp()))
      and exists (select 1 from processes p where p.id = ${owner} and p.dead_at is null)
    returning ${contextColumns}`;
}

function toClaimed(row: ContextColumns): ContextRow {
  return { ...toContextRow(row), failedClaims: row.failedClaims - 1 };
}

/** Uncounts a claim that a sweep counted under this epoch and that failed through no fault of the context. */
export async function forgive(executor: Executor, contextId: ContextId, counted: number): Promise<void> {
  await executor.execute(sql`/* contexts.uncount_failed_claim */
    update contexts c set failed_claims = greatest(c.failed_claims - 1, 0)
    where c.id = ${contextId} and c.lease_owner is null and c.lease_epoch = ${counted}`);
}
