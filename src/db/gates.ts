/** Provider keys that were told to hold back: the truth for all worker processes. Of no tenant. */
import { sql } from 'drizzle-orm';
import { isHoldReason } from '../core/gate.ts';
import type { HoldReason } from '../core/gate.ts';
import type { ProviderName } from '../core/model.ts';
import type { Millis } from '../core/time.ts';
import type { Executor } from './client.ts';
import { millis, toTimestamp } from './instant.ts';

/** `id`: tells keys apart (`llm/key-id.ts`). */
export type ClosedGate = { id: string; reason: HoldReason; until: Millis };

/** Holds a key back until a moment, or for as long as somebody else already said, if that is longer. */
export async function closeGate(
  executor: Executor,
  provider: ProviderName,
  { id, reason, until }: ClosedGate,
): Promise<void> {
  await executor.execute(sql`/* provider_throttles.set */
    insert into provider_gates as g (id, provider, reason, held_until)
    values (${id}, ${provider}, ${reason}, ${toTimestamp(until)}::timestamptz)
    on conflict (id) do update set
      reason = excluded.reason, held_until = excluded.held_until,
      closed_at = case when g.held_until < clock_timestamp() then excluded.closed_at else g.closed_at end
    where g.held_until < excluded.held_until`);
}

/** What is closed now as one JSON array, or null: a part of statements that come anyway. */
export const closedGates = sql`(
  select jsonb_agg(jsonb_build_object('id', g.id, 'reason', g.reason, 'until', ${millis(sql`g.held_until`)}))
  from provider_gates g where g.held_until > clock_timestamp())`;

export type ClosedGatesColumn = { id: string; reason: string; until: Millis }[] | null;

/** A reason that this release does not know is another release's affair. */
export function toClosedGates(column: ClosedGatesColumn): ClosedGate[] {
  return (column ?? []).flatMap(({ id, reason, until }) =>
    isHoldReason(reason) ? [{ id, reason, until }] : [],
  );
}

/** How many keys of each provider are held back. */
export async function countClosed(executor: Executor): Promise<Map<string, number>> {
  const rows = await executor.execute<{ provider: string; closed: number }>(sql`
    select provider, count(*) filter (where held_until > clock_timestamp())::int as closed
    from provider_gates group by provider`);
  return new Map(rows.map((row) => [row.provider, row.closed]));
}

/** Keys that were not told anything for a day. */
export async function forgetGates(executor: Executor): Promise<void> {
  await executor.execute(
    sql`/* provider_throttles.delete_old */ delete from provider_gates where held_until < clock_timestamp() - interval '1 day'`,
  );
}
