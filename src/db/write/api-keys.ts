/** API keys that the API made, and which of them are valid: neither revoked nor expired. */
import { sql, type SQL } from 'drizzle-orm';
import type { ApiKeyView, NewApiKey } from '../../core/access/api-keys.ts';
import { DEFAULT_TENANT, type ApiKeyId, type TenantId } from '../../core/ids.ts';
import type { KeyLimits, TenantLimits } from '../../core/access/quotas.ts';
import type { Allow } from '../../core/access/tenant.ts';
import { isScope, type Scope, type Scopes } from '../../core/access/scopes.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { millis, nowInStatement, toTimestamp } from '../connection/instant.ts';
import { credentialTenant, isActive, type CredentialTenant } from './tenants/tenants.ts';

/** Revoked and expired keys are listed for so long. */
const LISTED_FOR = sql`interval '90 days'`;

/** How exact the time of the last use is. */
const USE_EXACT_TO = sql`interval '1 minute'`;

/** A condition on `k`. */
export const isValidKey: SQL = sql`k.revoked_at is null and (k.expires_at is null or k.expires_at > ${nowInStatement})`;

export type StoredKey = CredentialTenant & {
  hash: string;
  scopes: Scopes;
  keyLimits: KeyLimits;
  /** Whether its last use is to be stored again. */
  isUseDue: boolean;
};

/** Null: there is no valid key with this id. */
export async function findKey(executor: Executor, id: ApiKeyId): Promise<StoredKey | null> {
  const [found] = await executor.execute<Omit<StoredKey, 'scopes'> & { scopes: string }>(sql`/* api_keys.find */
    select ${credentialTenant}, k.hash, k.scopes, k.limits as "keyLimits",
      k.last_used_at is null or k.last_used_at < ${nowInStatement} - ${USE_EXACT_TO} as "isUseDue"
    from api_keys k join tenants t on t.id = k.tenant_id where k.id = ${id} and ${isValidKey}`);
  return found === undefined ? null : { ...found, scopes: new Set(parseScopes(found.scopes)) };
}

/** Those of the keys that are valid and of active tenants, in one query. */
export async function findValidKeys(executor: Executor, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await executor.execute<{ id: string }>(sql`
    select k.id from jsonb_array_elements_text(${encodeJson(ids)}::jsonb) as a(id)
    join api_keys k on k.id = a.id::uuid and ${isValidKey} and ${isActive(sql`k.tenant_id`)}`);
  return new Set(rows.map(({ id }) => id));
}

/** Of an API that may have no keys. `areKeysMade`: whether it has ever made one. The others: of the default tenant. */
export type Keyless = { areKeysMade: boolean; allow: Allow; limits: TenantLimits };

/** `forgetKeys` leaves the last key. */
export async function findKeyless(executor: Executor): Promise<Keyless> {
  const [row] = await executor.execute<Keyless>(sql`/* api_keys.find_any */
    select exists (select 1 from api_keys) as "areKeysMade",
      coalesce((select t.allow from tenants t where t.id = ${DEFAULT_TENANT}), '{}') as allow,
      coalesce((select t.limits from tenants t where t.id = ${DEFAULT_TENANT}), '{}') as limits`);
  if (row === undefined) throw new Error('A select without a table has one row.');
  return row;
}

/** Whether the API has ever made a key. */
export async function hasKeys(executor: Executor): Promise<boolean> {
  return (await findKeyless(executor)).areKeysMade;
}

/** Stores that the key was used now. */
export async function noteUse(executor: Executor, id: ApiKeyId): Promise<void> {
  await executor.execute(sql`/* api_keys.note_use */
    update api_keys k set last_used_at = ${nowInStatement}
    where k.id = ${id} and (k.last_used_at is null or k.last_used_at < ${nowInStatement} - ${USE_EXACT_TO})`);
}

/**
 * Of the valid keys of a tenant: how many there are, and whether one of them can make others. One that the operator made
 * counts once it was used: its response may have been lost.
 */
export type KeyCount = { valid: number; canMake: boolean };

/** Locks the keys of a tenant against other transactions that make some. Null: the tenant is not active. */
export async function lockKeys(tx: Executor, tenantId: TenantId): Promise<KeyCount | null> {
  const locked = await tx.execute(sql`/* api_keys.lock */
    select 1 from tenants t where t.id = ${tenantId} and t.status = 'active' for no key update`);
  if (locked.length === 0) return null;
  const [row] = await tx.execute<KeyCount>(sql`
    select count(*)::int as valid, coalesce(bool_or(
      (k.last_used_at is not null or not k.is_by_operator) and 'keys' = any (string_to_array(k.scopes, '+'))
    ), false) as "canMake"
    from api_keys k where k.tenant_id = ${tenantId} and ${isValidKey}`);
  return row ?? { valid: 0, canMake: false };
}

/** Whether the key is valid and its tenant active. If so, it is not revoked before the transaction ends. */
export async function holdKey(tx: Executor, id: ApiKeyId): Promise<boolean> {
  const rows = await tx.execute(sql`/* api_keys.hold */
    select 1 from api_keys k where k.id = ${id} and ${isValidKey} and ${isActive(sql`k.tenant_id`)} for share`);
  return rows.length > 0;
}

export async function addKey(tx: Executor, key: NewApiKey): Promise<ApiKeyView> {
  const [added] = await tx.execute<ViewRow>(sql`/* api_keys.add */
    insert into api_keys as k (id, tenant_id, name, hash, scopes, limits, is_by_operator, lifetime_ms, expires_at, replaces)
    values (${key.id}, ${key.tenantId}, ${key.name}, ${key.hash}, ${key.scopes.join('+')},
      ${encodeJson(key.limits)}::jsonb, ${key.isByOperator}, ${key.lifetimeMs},
      coalesce(${toTimestamp(key.expiresAt)}::timestamptz,
        ${nowInStatement} + ${key.lifetimeMs}::float8 * interval '1 millisecond'), ${key.replaces})
    returning ${viewColumns}`);
  if (added === undefined) throw new Error(`The key ${key.id} was not added.`);
  return toView(added);
}

/** Newest first. `after`: an id. */
export async function listKeys(
  executor: Executor,
  tenantId: TenantId,
  { after, limit }: { after: ApiKeyId | null; limit: number },
): Promise<ApiKeyView[]> {
  const rows = await executor.execute<ViewRow>(sql`
    select ${viewColumns} from api_keys k
    where k.tenant_id = ${tenantId} and (${after}::uuid is null or k.id < ${after}::uuid)
    order by k.id desc limit ${limit}`);
  return rows.map(toView);
}

export type EndedKey = Pick<NewApiKey, 'name' | 'scopes' | 'limits' | 'lifetimeMs'>;

/** Ends a key after `overlapS` seconds, or earlier if it expires earlier. Null: there is no valid key with this id. */
export async function endKeyAfter(
  tx: Executor,
  tenantId: TenantId,
  id: ApiKeyId,
  overlapS: number,
): Promise<EndedKey | null> {
  const [found] = await tx.execute<Omit<EndedKey, 'scopes'> & { scopes: string }>(sql`/* api_keys.end_after */
    update api_keys k set expires_at = least(k.expires_at, ${nowInStatement} + ${overlapS} * interval '1 second')
    where k.id = ${id} and k.tenant_id = ${tenantId} and ${isValidKey}
    returning k.name, k.scopes, k.limits, k.lifetime_ms as "lifetimeMs"`);
  return found === undefined ? null : { ...found, scopes: parseScopes(found.scopes) };
}

/**
 * Ends a key and its sessions at once. False: it was revoked before, and nothing changes. Null: the tenant has no such
 * key.
 */
export async function revokeKey(executor: Executor, tenantId: TenantId, id: ApiKeyId): Promise<boolean | null> {
  const [found] = await executor.execute<{ revoked: boolean }>(sql`/* api_keys.revoke */
    with revoked as materialized (
      update api_keys k set revoked_at = ${nowInStatement}
      where k.id = ${id} and k.tenant_id = ${tenantId} and k.revoked_at is null returning k.id
    ), ended as (
      delete from sessions s using revoked r where s.api_key_id = r.id
    )
    select exists (select 1 from revoked) as revoked from api_keys k where k.id = ${id} and k.tenant_id = ${tenantId}`);
  return found?.revoked ?? null;
}

/** Whether the tenant has a key with this id, valid or not. */
export async function isKeyOf(executor: Executor, tenantId: TenantId, id: ApiKeyId): Promise<boolean> {
  const rows = await executor.execute(sql`select 1 from api_keys k where k.id = ${id} and k.tenant_id = ${tenantId}`);
  return rows.length > 0;
}

/** Deletes keys that were revoked or expired long ago, at most `most`. Returns how many were deleted. */
export async function forgetKeys(executor: Executor, most: number): Promise<number> {
  const rows = await executor.execute(sql`/* api_keys.delete_old */
    with old as materialized (
      select k.id from api_keys k where least(k.revoked_at, k.expires_at) < ${nowInStatement} - ${LISTED_FOR}
        and exists (select 1 from api_keys n where n.id > k.id)
      limit ${most} for update skip locked
    )
    delete from api_keys k using old where k.id = old.id returning 1`);
  return rows.length;
}

type ViewRow = Omit<ApiKeyView, 'scopes'> & { scopes: string };

const viewColumns: SQL = sql`k.id, k.name, k.scopes, k.limits, ${millis(sql`k.created_at`)} as "createdAt",
  ${millis(sql`k.expires_at`)} as "expiresAt", ${millis(sql`k.last_used_at`)} as "lastUsedAt",
  ${millis(sql`k.revoked_at`)} as "revokedAt", k.replaces`;

function toView(row: ViewRow): ApiKeyView {
  return { ...row, scopes: parseScopes(row.scopes) };
}

/** Scopes that this version does not know allow nothing. */
export function parseScopes(text: string): Scope[] {
  return text.split('+').filter(isScope);
}
