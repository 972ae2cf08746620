/** Throttled models, shared by all worker processes. The database row decides. */
import { sql } from 'drizzle-orm';
import { isThrottleReason, type ActiveThrottle, type ThrottleNews } from '../../core/run/throttle.ts';
import type { ModelName } from '../../core/model/model.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../connection/client.ts';
import { millis, nowInStatement, toTimestamp } from '../connection/instant.ts';
import { isActive } from '../write/tenants/tenants.ts';

/** What is throttled. `keyId`: see `llm/key-id.ts`. */
export type ThrottledModel = ModelName & { keyId: string };

/**
 * Throttles calls until a time, unless they are already throttled for longer, or the operator has lifted the throttle
 * since the refusal.
 */
export async function setThrottle(
  executor: Executor,
  { provider, keyId, model }: ThrottledModel,
  { id, tenantId, reason, since, refusedAt, until }: ActiveThrottle,
): Promise<void> {
  await executor.execute(sql`/* provider_throttles.set */
    insert into provider_throttles as g (id, tenant_id, provider, key_id, model, reason, since, refused_at, until)
    select ${id}, ${tenantId}::bigint, ${provider}, ${keyId}, ${model}, ${reason}, ${toTimestamp(since)}::timestamptz,
      ${toTimestamp(refusedAt)}::timestamptz, ${toTimestamp(until)}::timestamptz
    where ${isActive(tenantId)}
    on conflict (id, tenant_id) do update set
      reason = excluded.reason, until = excluded.until, refused_at = excluded.refused_at,
      since = case when g.until < clock_timestamp() then excluded.since else least(g.since, excluded.since) end
    where g.until < excluded.until and (g.lifted_at is null or excluded.refused_at > g.lifted_at)`);
}

/** How long a process may take to learn that a throttle was lifted: it looks with every heartbeat. */
export const LIFTED_FOR = sql`interval '1 minute'`;

/** Throttles that a heartbeat returns at most: those that end last. */
const MOST_NEWS = 1_000;

/**
 * The active throttles, and those lifted lately, as one JSON array, or null. Added to other statements, to save a round
 * trip.
 */
export const throttleNews = sql`(
  select jsonb_agg(jsonb_build_object('id', g.id, 'tenantId', g.tenant_id, 'reason', g.reason,
    'since', ${millis(sql`g.since`)}, 'refusedAt', ${millis(sql`g.refused_at`)}, 'until', ${millis(sql`g.until`)},
    'liftedAt', ${millis(sql`g.lifted_at`)}))
  from (
    (select * from provider_throttles where until > ${nowInStatement}
      order by until desc limit ${sql.raw(String(MOST_NEWS))})
    union all
    (select distinct on (id) * from provider_throttles
      where until between ${nowInStatement} - interval '1 hour' and ${nowInStatement}
        and lifted_at > ${nowInStatement} - ${LIFTED_FOR}
      order by id, lifted_at desc limit ${sql.raw(String(MOST_NEWS))})) g)`;

export type ThrottlesColumn = (Omit<ActiveThrottle, 'reason'> & { reason: string; liftedAt: Millis | null })[] | null;

/** Skips reasons that this release does not know. */
export function toThrottleNews(column: ThrottlesColumn, now: Millis): ThrottleNews {
  const rows = column ?? [];
  return {
    active: rows.flatMap(({ id, tenantId, reason, since, refusedAt, until }) =>
      until > now && isThrottleReason(reason) ? [{ id, tenantId, reason, since, refusedAt, until }] : [],
    ),
    lifted: rows.flatMap(({ id, liftedAt }) => (liftedAt === null ? [] : [{ id, at: liftedAt }])),
  };
}

/** The number of throttled models of each provider. */
export async function countThrottles(executor: Executor): Promise<Map<string, number>> {
  const rows = await executor.execute<{ provider: string; closed: number }>(sql`
    select provider, count(distinct id) filter (where until > clock_timestamp())::int as closed
    from provider_throttles group by provider`);
  return new Map(rows.map((row) => [row.provider, row.closed]));
}

/** Deletes throttles that ended more than a day ago. */
export async function forgetThrottles(executor: Executor): Promise<void> {
  await executor.execute(
    sql`/* provider_throttles.delete_old */ delete from provider_throttles where until < clock_timestamp() - interval '1 day'`,
  );
}
