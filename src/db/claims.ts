/** Claims: the lease is taken where nobody has it. `c` is the row throughout. */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { ContextId, ProcessId } from '../core/ids.ts';
import type { Executor } from './client.ts';
import { encodeJson } from './codec.ts';
import { columns, toRow } from './contexts.ts';
import type { Columns, ContextRow } from './contexts.ts';

/**
 * Takes the lease where nobody has it and something is to be done; the leases of the dead are revoked by sweeps before.
 * Null: the doorbell was surplus, or the process that asks was declared dead. The row that comes back counts the barren
 * claims *before* this one. `counted`: the epoch under which a sweep has counted this claim already, in a commit of its
 * own; null: nobody has.
 */
export async function claim(
  tx: Executor,
  contextId: ContextId,
  owner: ProcessId,
  counted: number | null = null,
): Promise<ContextRow | null> {
  const [row] = await tx.execute<Columns>(
    sql`/* contexts.claim */ ${taking(sql`(select ${contextId}::uuid as id) free`, owner, counted)}`,
  );
  return row === undefined ? null : toClaimed(row);
}

/** The same for many. Passes by rows that somebody else holds, and those whose claims came to nothing before. */
export async function claimFree(
  tx: Executor,
  contextIds: readonly ContextId[],
  owner: ProcessId,
): Promise<ContextRow[]> {
  const rows = await tx.execute<Columns>(sql`/* contexts.claim_many */
    with free as materialized (
      select f.id from jsonb_array_elements_text(${encodeJson(contextIds)}::jsonb) as wanted(id)
      join contexts f on f.id = wanted.id::uuid
      -- Always true. The planner expects few rows then, and looks each context up by its id.
      where wanted.id || '' = wanted.id and f.failed_claims = 0
      for no key update of f skip locked
    ) ${taking(sql`free`, owner, null)}`);
  return rows.map(toClaimed);
}

/** Those of them that the owner holds, for statements that are sent in one breath with their claim (see `places`). */
export function leasedBy(contextIds: readonly ContextId[], owner: ProcessId): SQL {
  return sql`(
    select c.id as context_id, c.tenant_id as tenant, c.active_branch as branch, c.steers
    from jsonb_array_elements_text(${encodeJson(contextIds)}::jsonb) as wanted(id)
    join contexts c on c.id = wanted.id::uuid
    -- As in a claim: each is looked up by its id.
    where wanted.id || '' = wanted.id and c.lease_owner = ${owner} and c.scheduling_status = 'running'
  ) at`;
}

/** The update that claims those of `from`, which has their ids. */
function taking(from: SQL, owner: ProcessId, counted: number | null): SQL {
  return sql`update contexts c set
      scheduling_status = 'running', lease_owner = ${owner}, lease_epoch = c.lease_epoch + 1,
      next_check_at = null,
      failed_claims = c.failed_claims + case when c.lease_epoch = ${counted}::bigint then 0 else 1 end
    from ${from}
    where c.id = free.id and (c.lease_owner is null)
      and (c.scheduling_status = 'runnable' or (c.scheduling_status = 'waiting' and c.next_check_at <= clock_timestamp()))
      and exists (select 1 from processes p where p.id = ${owner} and p.dead_at is null)
    returning ${columns}`;
}

function toClaimed(row: Columns): ContextRow {
  return { ...toRow(row), failedClaims: row.failed_claims - 1 };
}

/** A claim that was counted under this epoch came to nothing by no fault of the context: it does not count. */
export async function forgive(executor: Executor, contextId: ContextId, counted: number): Promise<void> {
  await executor.execute(sql`/* contexts.uncount_failed_claim */
    update contexts c set failed_claims = greatest(c.failed_claims - 1, 0)
    where c.id = ${contextId} and c.lease_owner is null and c.lease_epoch = ${counted}`);
}
