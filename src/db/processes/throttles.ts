/** Throttled models, shared by all worker processes. The database row decides. */
import { sql } from 'drizzle-orm';
import { isThrottleReason, type ActiveThrottle, type ThrottleNews } from '../../core/run/throttle.ts';
import type { ModelName } from '../../core/model/model.ts';
import type { Millis } from '../../core/time.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { millis, toTimestamp } from '../connection/instant.ts';

/** What is throttled. `keyId`: see `llm/key-id.ts`. */
export type ThrottledModel = ModelName & { keyId: string };

/** Throttles a model until a time, unless it is already throttled for longer; and adds the refused tenants. */
export async function setThrottle(
  executor: Executor,
  { provider, keyId, model }: ThrottledModel,
  { id, reason, since, until, tenantIds }: ActiveThrottle,
): Promise<void> {
  await executor.execute(sql`/* provider_throttles.set */
    insert into provider_throttles as g (id, provider, key_id, model, reason, since, until, tenant_ids)
    values (${id}, ${provider}, ${keyId}, ${model}, ${reason}, ${toTimestamp(since)}::timestamptz, ${toTimestamp(until)}::timestamptz,
      array(select jsonb_array_elements_text(${encodeJson(tenantIds)}::jsonb)::bigint))
    on conflict (id) do update set
      reason = case when g.until < excluded.until then excluded.reason else g.reason end,
      until = greatest(g.until, excluded.until),
      since = case when g.until < clock_timestamp() then excluded.since else g.since end,
      tenant_ids = case when g.until < clock_timestamp() then excluded.tenant_ids
        else array(select unnest(g.tenant_ids) union select unnest(excluded.tenant_ids)) end
    where g.until < excluded.until or not excluded.tenant_ids <@ g.tenant_ids`);
}

/** How long a process may take to learn that a throttle was lifted: it looks with every heartbeat. */
const LIFTED_FOR = sql`interval '1 minute'`;

/** The active throttles, and those lifted lately, as one JSON array, or null. Added to other statements, to save a round trip. */
export const throttleNews = sql`(
  select jsonb_agg(jsonb_build_object('id', g.id, 'reason', g.reason,
    'since', ${millis(sql`g.since`)}, 'until', ${millis(sql`g.until`)},
    'tenantIds', to_jsonb(g.tenant_ids), 'liftedAt', ${millis(sql`g.lifted_at`)}))
  from provider_throttles g
  where g.until > clock_timestamp() or g.lifted_at > clock_timestamp() - ${LIFTED_FOR})`;

export type ThrottlesColumn = (Omit<ActiveThrottle, 'reason'> & { reason: string; liftedAt: Millis | null })[] | null;

/** Skips reasons that this release does not know. */
export function toThrottleNews(column: ThrottlesColumn, now: Millis): ThrottleNews {
  const rows = column ?? [];
  return {
    active: rows.flatMap(({ id, reason, since, until, tenantIds }) =>
      until > now && isThrottleReason(reason) ? [{ id, reason, since, until, tenantIds }] : [],
    ),
    lifted: rows.flatMap(({ id, liftedAt }) => (liftedAt === null ? [] : [{ id, at: liftedAt }])),
  };
}

/** The number of throttled models of each provider. */
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
