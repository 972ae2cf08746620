/** Tool lists that were sent to models: one row per list, however many calls used it. */
import { sql } from 'drizzle-orm';
import { asSent } from '../../core/model/fingerprint.ts';
import type { TenantId } from '../../core/ids.ts';
import type { ToolSpec } from '../../core/model/model.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { isActive } from '../write/tenants/tenants.ts';

/** Days that a list is kept after its last use. */
export const TOOL_LIST_DAYS = 90;

/** `hash`: identifies the list. If it is stored already, only its last use is updated. */
export async function keepToolList(
  executor: Executor,
  tenantId: TenantId,
  hash: string,
  tools: readonly ToolSpec[],
): Promise<void> {
  await executor.execute(sql`/* tool_lists.keep */
    insert into tool_lists (tenant_id, hash, tools)
    select ${tenantId}::bigint, ${hash}, ${encodeJson(tools.map(asSent))}::json where ${isActive(tenantId)}
    on conflict (tenant_id, hash) do update set used_at = statement_timestamp()`);
}

/** Null: the list is no longer stored. */
export async function readToolList(executor: Executor, tenantId: TenantId, hash: string): Promise<ToolSpec[] | null> {
  const [row] = await executor.execute<{ tools: ToolSpec[] }>(sql`
    select t.tools from tool_lists t where t.tenant_id = ${tenantId} and t.hash = ${hash}`);
  return row?.tools ?? null;
}

/** Deletes lists that were not used for `TOOL_LIST_DAYS` days, at most `most`. Returns how many were deleted. */
export async function forgetToolLists(executor: Executor, most: number): Promise<number> {
  const rows = await executor.execute(sql`/* tool_lists.delete_unused */
    with unused as materialized (
      select t.tenant_id, t.hash from tool_lists t
      where t.used_at < statement_timestamp() - ${TOOL_LIST_DAYS} * interval '1 day' limit ${most} for update skip locked
    )
    delete from tool_lists t using unused
    where t.tenant_id = unused.tenant_id and t.hash = unused.hash returning 1`);
  return rows.length;
}

/** Lists that are looked at for the tools of a tenant, and tools that are returned. */
const RECENT_LISTS = 20;
const MOST_SENT = 500;

/**
 * The tools in the lists of the tenant that were used last, each as it was last sent, in the order of their names. Tools of
 * clients are not in lists.
 */
export async function readSentTools(executor: Executor, tenantId: TenantId): Promise<ToolSpec[]> {
  const rows = await executor.execute<{ tool: ToolSpec }>(sql`/* tool_lists.read_sent */
    with recent as materialized (
      select l.tools, l.used_at from tool_lists l where l.tenant_id = ${tenantId}
      order by l.used_at desc limit ${RECENT_LISTS}
    )
    select distinct on (e.tool ->> 'name') e.tool from recent r, json_array_elements(r.tools) e (tool)
    order by e.tool ->> 'name', r.used_at desc limit ${MOST_SENT}`);
  return rows.map(({ tool }) => tool);
}
