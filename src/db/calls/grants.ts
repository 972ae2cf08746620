/** Approvals in advance, by context and tool. They are deleted with the context. */
import { sql, type SQL } from 'drizzle-orm';
import type { Actor } from '../../core/access/actor.ts';
import type { Grant } from '../../core/run/grant.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { millis, nowInStatement } from '../connection/instant.ts';
import type { Place } from '../run/places.ts';

/** The tools among these that have a valid grant. */
export async function findGrants(
  executor: Executor,
  { tenantId, contextId }: Place,
  tools: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await executor.execute<{ tool: string }>(sql`/* approval_grants.find */
    select g.tool from approval_grants g
    where g.context_id = ${contextId} and g.tenant_id = ${tenantId} and g.tool in (${namesIn(tools)})
      and g.expires_at > ${nowInStatement}`);
  return new Set(rows.map(({ tool }) => tool));
}

type NewGrants = { tools: readonly string[]; actor: Actor; lifetimeS: number };

/** A later grant for a tool replaces the earlier one. */
export async function addGrants(
  tx: Executor,
  { tenantId, contextId }: Place,
  { tools, actor, lifetimeS }: NewGrants,
): Promise<void> {
  await tx.execute(sql`/* approval_grants.add */
    insert into approval_grants (context_id, tool, tenant_id, actor, created_at, expires_at)
    select ${contextId}::uuid, t.tool, ${tenantId}::bigint, ${encodeJson(actor)}::jsonb, ${nowInStatement},
      ${nowInStatement} + ${lifetimeS} * interval '1 second'
    from jsonb_array_elements_text(${encodeJson(tools)}::jsonb) as t(tool)
    on conflict (context_id, tool) do update
      set actor = excluded.actor, created_at = excluded.created_at, expires_at = excluded.expires_at`);
}

/** Valid ones, by tool. Null: the tenant has no such context. */
export async function listGrants(executor: Executor, { tenantId, contextId }: Place): Promise<Grant[] | null> {
  const rows = await executor.execute<{ [Name in keyof Grant]: Grant[Name] | null }>(sql`/* approval_grants.list */
    select g.tool, g.actor, ${millis(sql`g.created_at`)} as "createdAt", ${millis(sql`g.expires_at`)} as "expiresAt"
    from contexts c left join approval_grants g on g.context_id = c.id and g.expires_at > ${nowInStatement}
    where c.id = ${contextId} and c.tenant_id = ${tenantId} order by g.tool`);
  if (rows.length === 0) return null;
  return rows.flatMap(({ tool, actor, createdAt, expiresAt }) =>
    tool === null || actor === null || createdAt === null || expiresAt === null
      ? []
      : [{ tool, actor, createdAt, expiresAt }],
  );
}

/** Returns how many there were, the expired ones included. */
export async function removeGrants(
  tx: Executor,
  { tenantId, contextId }: Place,
  tools: readonly string[],
): Promise<number> {
  const rows = await tx.execute(sql`/* approval_grants.remove */
    delete from approval_grants g
    where g.context_id = ${contextId} and g.tenant_id = ${tenantId} and g.tool in (${namesIn(tools)}) returning 1`);
  return rows.length;
}

function namesIn(tools: readonly string[]): SQL {
  return sql`select jsonb_array_elements_text(${encodeJson(tools)}::jsonb)`;
}
