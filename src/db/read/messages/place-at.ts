/**
 * Finds the place of a time in the history of a context, by binary search over the numbers of its messages: they rise
 * with the times at which messages were completed, also in imports. One statement; it reads about as many messages as the
 * last number has binary digits, each by index. If completions are a few milliseconds out of order, the place is beside
 * them.
 */
import { sql } from 'drizzle-orm';
import type { ContextId, TenantId } from '../../../core/ids.ts';
import type { Millis } from '../../../core/time.ts';
import type { Executor } from '../../connection/client.ts';
import { toTimestamp } from '../../connection/instant.ts';

/**
 * The number from which on messages were completed at this time or later: all with a lower number are older, on each
 * branch. Null: the tenant has no such context.
 */
export async function placeAt(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  at: Millis,
): Promise<number | null> {
  // Each step halves what lies between `older` and `newer`: the message after the middle belongs to one side.
  const [row] = await executor.execute<{ seq: number | null }>(sql`/* messages.place_at */
    with recursive search as (
      select 0::bigint as older, c.head_seq + 1 as newer from contexts c
      where c.tenant_id = ${tenantId} and c.id = ${contextId}
      union all
      select case when m.at < ${toTimestamp(at)}::timestamptz then m.seq else s.older end,
        case when m.at < ${toTimestamp(at)}::timestamptz then s.newer else (s.older + s.newer) / 2 end
      from search s left join lateral (
        select m.seq, coalesce(m.completed_at, m.created_at) as at from messages m
        where m.context_id = ${contextId} and m.tenant_id = ${tenantId}
          and m.seq >= (s.older + s.newer) / 2 and m.seq < s.newer
        order by m.seq limit 1) m on true
      where s.newer - s.older > 1
    )
    select min(s.newer)::float8 as seq from search s`);
  return row?.seq ?? null;
}
