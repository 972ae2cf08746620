/**
 * What tenants use of each tool (`core/tools/tool-use.ts`): one row per tenant, tool and hour, to which all worker
 * processes add. A read takes the rows of the last days by the primary key, so it does not grow with history.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { TenantId } from '../../core/ids.ts';
import type { Millis } from '../../core/time.ts';
import { KEPT_FAILURES, type ToolUse } from '../../core/tools/tool-use.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { millis } from '../connection/instant.ts';
import { isActive } from '../write/tenants/tenants.ts';

export type CountedUse = { tenantId: TenantId; tool: string; use: ToolUse };

/** Days that rows are kept, and that a read may go back. */
export const USE_DAYS = 7;
/** Tools that a read returns. */
const MOST_TOOLS = 500;

/** Adds what a process counted to the current hour, in the order of the key, so that processes do not deadlock. */
export function addUse(counted: readonly CountedUse[]): SQL {
  const rows = counted.map(({ tenantId, tool, use: { lastAt, ...use } }) => ({
    ...use,
    tenant_id: tenantId,
    tool,
    last_ms: lastAt,
  }));
  return sql`insert into tool_use
      (tenant_id, hour, tool, completed, failed, denied, expired, unknown, codes, times, last_at, failures)
    select g.tenant_id, date_trunc('hour', statement_timestamp(), 'UTC'), g.tool, g.completed, g.failed, g.denied, g.expired,
      g.unknown, g.codes, g.times, to_timestamp(g.last_ms / 1000), g.failures
    from jsonb_to_recordset(${encodeJson(rows)}::jsonb) as g (tenant_id bigint, tool text, completed int, failed int,
      denied int, expired int, unknown int, codes jsonb, times int[], last_ms float8, failures jsonb)
    where ${isActive(sql`g.tenant_id`)}
    order by g.tenant_id, g.tool
    on conflict (tenant_id, hour, tool) do update set
      completed = tool_use.completed + excluded.completed, failed = tool_use.failed + excluded.failed,
      denied = tool_use.denied + excluded.denied, expired = tool_use.expired + excluded.expired,
      unknown = tool_use.unknown + excluded.unknown,
      codes = coalesce((select jsonb_object_agg(s.key, s.n) from (
        select e.key, sum(e.value::bigint) as n from (
          select * from jsonb_each_text(tool_use.codes) union all select * from jsonb_each_text(excluded.codes)) e
        group by e.key) s), '{}'),
      times = (select array_agg(coalesce(e.a, 0) + coalesce(e.b, 0) order by e.place)
        from unnest(tool_use.times, excluded.times) with ordinality e (a, b, place)),
      last_at = greatest(tool_use.last_at, excluded.last_at),
      failures = (select coalesce(jsonb_agg(f.one order by f.place), '[]') from (
        select e.one, e.place from jsonb_array_elements(excluded.failures || tool_use.failures) with ordinality e (one, place)
        order by e.place limit ${KEPT_FAILURES}) f)`;
}

/** The same in a statement of its own, for a process that ends. */
export async function storeUse(executor: Executor, counted: readonly CountedUse[]): Promise<void> {
  if (counted.length > 0) await executor.execute(sql`/* tool_use.add */ ${addUse(counted)}`);
}

/** `from`: the beginning of the first hour. The most called tools first. */
export async function readUse(
  executor: Executor,
  tenantId: TenantId,
  hours: number,
): Promise<{ from: Millis; tools: ({ tool: string } & ToolUse)[] }> {
  const first = sql`date_trunc('hour', statement_timestamp(), 'UTC') - ${hours - 1}::int * interval '1 hour'`;
  const rows = await executor.execute<{ from: Millis; tool: string | null } & ToolUse>(sql`/* tool_use.read */
    with rows as materialized (
      select u.* from tool_use u where u.tenant_id = ${tenantId} and u.hour >= ${first}
    ), sums as materialized (
      select u.tool, sum(u.completed)::float8 as completed, sum(u.failed)::float8 as failed,
        sum(u.denied)::float8 as denied, sum(u.expired)::float8 as expired, sum(u.unknown)::float8 as unknown,
        max(u.last_at) as last_at
      from rows u group by u.tool
      order by sum(u.completed + u.failed + u.denied + u.expired + u.unknown) desc, u.tool limit ${MOST_TOOLS}
    ), codes as (
      select c.tool, jsonb_object_agg(c.key, c.n) as codes from (
        select u.tool, e.key, sum(e.value::bigint) as n from rows u, jsonb_each_text(u.codes) e group by 1, 2) c
      group by 1
    ), times as (
      select t.tool, jsonb_agg(t.n order by t.place) as times from (
        select u.tool, e.place, sum(e.n) as n from rows u, unnest(u.times) with ordinality e (n, place) group by 1, 2) t
      group by 1
    ), failures as (
      select f.tool, jsonb_agg(f.one order by f.place) as failures from (
        select u.tool, e.one, row_number() over (partition by u.tool order by (e.one ->> 'at')::float8 desc) as place
        from rows u, jsonb_array_elements(u.failures) e (one)) f
      where f.place <= ${KEPT_FAILURES} group by 1
    )
    select ${millis(first)} as from, s.tool, s.completed, s.failed, s.denied, s.expired, s.unknown,
      ${millis(sql`s.last_at`)} as "lastAt", coalesce(c.codes, '{}') as codes, coalesce(t.times, '[]') as times,
      coalesce(f.failures, '[]') as failures
    from (select 1) one left join sums s on true left join codes c on c.tool = s.tool
      left join times t on t.tool = s.tool left join failures f on f.tool = s.tool
    order by s.completed + s.failed + s.denied + s.expired + s.unknown desc, s.tool`);
  const tools = rows.flatMap(({ tool, ...use }) => (tool === null ? [] : [{ ...use, tool }]));
  return { from: rows[0]?.from ?? 0, tools };
}

/** Deletes rows that are older than `USE_DAYS`, at most `most`. Returns how many were deleted. */
export async function forgetUse(executor: Executor, most: number): Promise<number> {
  const rows = await executor.execute(sql`/* tool_use.delete_old */
    with old as materialized (
      select u.tenant_id, u.hour, u.tool from tool_use u
      where u.hour < statement_timestamp() - ${USE_DAYS * 24 + 1} * interval '1 hour' limit ${most} for update skip locked
    )
    delete from tool_use u using old
    where u.tenant_id = old.tenant_id and u.hour = old.hour and u.tool = old.tool returning 1`);
  return rows.length;
}
