/** Tenants by name. */
import { randomInt } from 'node:crypto';
import { sql, type SQL } from 'drizzle-orm';
import type { TenantId } from '../../../core/ids.ts';
import { NO_LIMITS, type TenantLimits } from '../../../core/access/quotas.ts';
import type { Allow, TenantStatus } from '../../../core/access/tenant.ts';
import { ALL_ALLOWED } from '../../../core/workers/allowed-names.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';

/** Ids are below 2 to the power of 48, so that JSON and JavaScript hold them exactly. */
const IDS = 2 ** 48 - 1;

/** The tenant of a credential, as access control reads it with the credential. */
export type CredentialTenant = {
  tenantId: TenantId;
  tenantName: string;
  tenantStatus: TenantStatus;
  /** What its workers may use. */
  allow: Allow;
  /** Its own; those of the config file are for what is missing. */
  limits: TenantLimits;
};

/** Of a row that also has columns of the credential. */
export function credentialTenantOf(row: CredentialTenant): CredentialTenant {
  const { tenantId, tenantName, tenantStatus, allow, limits } = row;
  return { tenantId, tenantName, tenantStatus, allow, limits };
}

/** Of the tenant `t`. */
export const credentialTenant: SQL = sql`t.id as "tenantId", t.name as "tenantName", t.status as "tenantStatus", t.allow, t.limits`;

/** Whether the tenant with this id exists and is active. */
export function isActive(tenantId: SQL | TenantId): SQL {
  return sql`exists (select 1 from tenants active where active.id = ${tenantId} and active.status = 'active')`;
}

export function newTenantId(): TenantId {
  return randomInt(2, IDS) as TenantId;
}

/** The id of the tenant. Adds a tenant with a new name; processes that do this at once get the same id. */
export async function ensureTenant(executor: Executor, name: string): Promise<TenantId> {
  const [known] = await executor.execute<{ id: TenantId }>(sql`/* tenants.find */
    select t.id from tenants t where t.name = ${name}`);
  if (known !== undefined) return known.id;
  const [added] = await executor.execute<{ id: TenantId }>(sql`/* tenants.add */
    insert into tenants (id, name) values (${newTenantId()}, ${name})
    on conflict (name) do update set name = excluded.name returning id`);
  if (added === undefined) throw new Error(`The tenant ${name} was not added.`);
  return added.id;
}

/**
 * The tenant that a key of the environment names. Adds it with a new name. Null: the key was one of a deleted tenant of
 * this name.
 */
export async function tenantOfKey(executor: Executor, name: string, keyId: string): Promise<CredentialTenant | null> {
  type Row = { isEnded: boolean } & (CredentialTenant | { tenantId: null });
  const [row] = await executor.execute<Row>(sql`/* tenants.find_of_key */
    select ${credentialTenant}, exists (
        select 1 from audit_entries a where a.tenant_id is null and a.target = ${name} and a.action = 'tenant.deleted'
          and a.detail->'keys' @> ${encodeJson([keyId])}::jsonb
      ) as "isEnded"
    from (select 1) one left join tenants t on t.name = ${name}`);
  if (row === undefined || row.isEnded) return null;
  if (row.tenantId !== null) return credentialTenantOf(row);
  const tenantId = await ensureTenant(executor, name);
  return { tenantId, tenantName: name, tenantStatus: 'active', allow: ALL_ALLOWED, limits: NO_LIMITS };
}

/** The id of the tenant. Adds a tenant with a new name. Null: a tenant of this name was deleted, and none was created since. */
export async function ensureUndeleted(executor: Executor, name: string): Promise<TenantId | null> {
  const [row] = await executor.execute<{ id: TenantId | null; isDeleted: boolean }>(sql`/* tenants.find_undeleted */
    select t.id, exists (
        select 1 from audit_entries a where a.tenant_id is null and a.target = ${name} and a.action = 'tenant.deleted'
      ) as "isDeleted"
    from (select 1) one left join tenants t on t.name = ${name}`);
  if (row === undefined) throw new Error(`PostgreSQL did not say whether the tenant ${name} exists.`);
  return row.id ?? (row.isDeleted ? null : ensureTenant(executor, name));
}

/** Those of the tenants that are active, in one query. */
export async function findActive(executor: Executor, ids: readonly TenantId[]): Promise<ReadonlySet<TenantId>> {
  const rows = await executor.execute<{ id: TenantId }>(sql`/* tenants.find_active */
    select t.id from jsonb_array_elements(${encodeJson(ids)}::jsonb) as a(id)
    join tenants t on t.id = a.id::bigint and t.status = 'active'`);
  return new Set(rows.map(({ id }) => id));
}
