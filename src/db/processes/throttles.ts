/** Throttled provider keys, shared by all worker processes. The database row decides. They belong to no tenant. */
import { sql } from 'drizzle-orm';
import { isThrottleReason, type ThrottleReason } from '../../core/run/throttle.ts';
import type { ProviderName } from '../../core/model/model.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../connection/client.ts';
import { millis, toTimestamp } from '../connection/instant.ts';

/** `id`: identifies the key (`llm/key-id.ts`). */
export type ActiveThrottle = { id: string; reason: ThrottleReason; until: Millis };

/** Throttles a key until a time, unless it is already throttled for longer. */
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

/** The active throttles as one JSON array, or null. Added to other statements, to save a round trip. */
export const activeThrottles = sql`(
  select jsonb_agg(jsonb_build_object('id', g.id, 'reason', g.reason, 'until', ${millis(sql`g.until`)}))
  from provider_throttles g where g.until > clock_timestamp())`;

export type ThrottlesColumn = { id: string; reason: string; until: Millis }[] | null;

/** Skips reasons that this release does not know. */
export function toThrottles(column: ThrottlesColumn): ActiveThrottle[] {
  return (column ?? []).flatMap(({ id, reason, until }) => (isThrottleReason(reason) ? [{ id, reason, until }] : []));
}

/** The number of throttled keys of each provider. */
export async function countThrottles(executor: Executor): Promise<Map<string, number>> {
  const rows = await executor.execute<{ provider: string; closed: number }>(sql`
    select provider, count(*) filter (where until > clock_timestamp())::int as closed
    from provider_throttles group by provider`);
  return new Map(rows.map((row) => [row.provider, row.closed]));
}

/** Deletes throttles that ended more than a day ago. */
export async function forgetThrottles(executor: Executor): Promise<void> {
  await executor.execute(
    sql`/* provider_throttles.delete_old */ delete from provider_throttles where until < clock_timestamp() - interval '1 day'`,
  );
}
