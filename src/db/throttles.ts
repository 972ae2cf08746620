/** Provider keys that were told to hold back: the truth for all worker processes. Of no tenant. */
import { sql } from 'drizzle-orm';
import { isThrottleReason } from '../core/throttle.ts';
import type { ThrottleReason } from '../core/throttle.ts';
import type { ProviderName } from '../core/model.ts';
import type { Millis } from '../core/time.ts';
import type { Executor } from './client.ts';
import { millis, toTimestamp } from './instant.ts';

/** `id`: tells keys apart (`llm/key-id.ts`). */
export type ActiveThrottle = { id: string; reason: ThrottleReason; until: Millis };

/** Holds a key back until a moment, or for as long as somebody else already said, if that is longer. */
export async function setThrottle(
  executor: Executor,
  provider: ProviderName,
  { id, reason, until }: ActiveThrottle,
): Promise<void> {
  await executor.execute(sql`/* provider_throttles.set */
    insert into provider_throttles as g (id, provider, reason, until)
    values (${id}, ${provider}, ${reason}, ${toTimestamp(until)}::timestamptz)
    on conflict (id) do update set
      reason = excluded.reason, until = excluded.until,
      since = case when g.until < clock_timestamp() then excluded.since else g.since end
    where g.until < excluded.until`);
}

/** What is closed now as one JSON array, or null: a part of statements that come anyway. */
export const activeThrottles = sql`(
  select jsonb_agg(jsonb_build_object('id', g.id, 'reason', g.reason, 'until', ${millis(sql`g.until`)}))
  from provider_throttles g where g.until > clock_timestamp())`;

export type ThrottlesColumn = { id: string; reason: string; until: Millis }[] | null;

/** A reason that this release does not know is another release's affair. */
export function toThrottles(column: ThrottlesColumn): ActiveThrottle[] {
  return (column ?? []).flatMap(({ id, reason, until }) =>
    isThrottleReason(reason) ? [{ id, reason, until }] : [],
  );
}

/** How many keys of each provider are held back. */
export async function countThrottles(executor: Executor): Promise<Map<string, number>> {
  const rows = await executor.execute<{ provider: string; closed: number }>(sql`
    select provider, count(*) filter (where until > clock_timestamp())::int as closed
    from provider_throttles group by provider`);
  return new Map(rows.map((row) => [row.provider, row.closed]));
}

/** Keys that were not told anything for a day. */
export async function forgetThrottles(executor: Executor): Promise<void> {
  await executor.execute(
    sql`/* provider_throttles.delete_old */ delete from provider_throttles where until < clock_timestamp() - interval '1 day'`,
  );
}
