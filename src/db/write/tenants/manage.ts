/** What the operator does with tenants. */
import { sql, type SQL } from 'drizzle-orm';
import type { TenantId } from '../../../core/ids.ts';
import type { LimitName, TenantLimits } from '../../../core/access/quotas.ts';
import type { Allow, Deletion, TenantView } from '../../../core/access/tenant.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';
import { dueNow, millis } from '../../connection/instant.ts';

const viewColumns: SQL = sql`t.name, t.status, t.weight, t.limits, t.allow, t.deletion,
  ${millis(sql`t.created_at`)} as "createdAt"`;

/** Sorted by name. `after`: a name. */
export async function listTenants(
  executor: Executor,
  { after, limit }: { after: string | null; limit: number },
): Promise<TenantView[]> {
  return executor.execute<TenantView>(sql`/* tenants.list */
    select ${viewColumns} from tenants t where (${after}::text is null or t.name > ${after}::text)
    order by t.name limit ${limit}`);
}

export async function findTenant(executor: Executor, name: string): Promise<TenantView | null> {
  const [found] = await executor.execute<TenantView>(sql`
    select ${viewColumns} from tenants t where t.name = ${name}`);
  return found ?? null;
}

/** Its id and own limits. Null: there is no such tenant. */
export async function findLimits(
  executor: Executor,
  name: string,
): Promise<{ id: TenantId; limits: TenantLimits } | null> {
  const [row] = await executor.execute<{ id: TenantId; limits: TenantLimits }>(sql`/* tenants.find_limits */
    select t.id, t.limits from tenants t where t.name = ${name}`);
  return row ?? null;
}

/** Null: there is a tenant with this name. */
export async function addTenant(
  tx: Executor,
  tenant: Pick<TenantView, 'name' | 'weight' | 'limits' | 'allow'> & { id: TenantId },
): Promise<TenantView | null> {
  const [added] = await tx.execute<TenantView>(sql`/* tenants.create */
    insert into tenants as t (id, name, weight, limits, allow)
    values (${tenant.id}, ${tenant.name}, ${tenant.weight}, ${encodeJson(tenant.limits)}::jsonb,
      ${encodeJson(tenant.allow)}::jsonb)
    on conflict (name) do nothing returning ${viewColumns}`);
  return added ?? null;
}

/**
 * Null: unchanged. Limits and lists of `allow` replace those of the same name or kind. One that is null is removed: the
 * limit is that of the config file then, or none; and everything is allowed.
 */
export type TenantChange = {
  status: 'active' | 'suspended' | null;
  weight: number | null;
  limits: { readonly [Name in LimitName]?: number | null };
  allow: { [Kind in keyof Allow]: Allow[Kind] | null } | null;
};

/** Null: there is no such tenant, or it is being deleted. */
export async function changeTenant(
  tx: Executor,
  name: string,
  { status, weight, limits, allow }: TenantChange,
): Promise<TenantView | null> {
  const [changed] = await tx.execute<TenantView>(sql`/* tenants.change */
    update tenants t set status = coalesce(${status}::text, t.status), weight = coalesce(${weight}::float8, t.weight),
      limits = jsonb_strip_nulls(t.limits || ${encodeJson(limits)}::jsonb),
      allow = jsonb_strip_nulls(t.allow || ${encodeJson(allow ?? {})}::jsonb)
    where t.name = ${name} and t.status <> 'deleting' returning ${viewColumns}`);
  return changed ?? null;
}

type NewDeletion = Pick<Deletion, 'actor' | 'requestId' | 'keys'>;

/** Null: there is no such tenant, or it is being deleted already. */
export async function beginDeletion(
  tx: Executor,
  name: string,
  { actor, requestId, keys }: NewDeletion,
): Promise<{ id: TenantId; view: TenantView } | null> {
  const started = { actor, requestId, keys, workers: 0, knownAt: null };
  const [begun] = await tx.execute<TenantView & { id: TenantId }>(sql`/* tenants.begin_deletion */
    update tenants t set status = 'deleting',
      deletion = ${encodeJson(started)}::jsonb || jsonb_build_object('at', ${millis(dueNow)})
    where t.name = ${name} and t.status <> 'deleting' returning t.id, ${viewColumns}`);
  if (begun === undefined) return null;
  const { id, ...view } = begun;
  return { id, view };
}
