/** Browser sessions: their tenant and API key, and when they expire. */
import { sql, type SQL } from 'drizzle-orm';
import type { KeyRef } from '../../core/access/api-keys.ts';
import type { ApiKeyId, TenantId } from '../../core/ids.ts';
import type { TenantLimits } from '../../core/access/quotas.ts';
import type { Allow, TenantStatus } from '../../core/access/tenant.ts';
import type { Scopes } from '../../core/access/scopes.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { nowInStatement } from '../connection/instant.ts';
import { isValidKey, parseScopes } from './api-keys.ts';
import { isActive } from './tenants/tenants.ts';

/**
 * `key`: the one that it began with, and ends with. `scopes`: of a key that the API made; those of the environment are
 * not stored.
 */
export type StoredSession = {
  tenantId: TenantId;
  tenantName: string;
  tenantStatus: TenantStatus;
  allow: Allow;
  limits: TenantLimits;
  key: KeyRef;
  scopes: Scopes;
};

/** A condition on a session `s` and its key `k`, if the API made it. */
const isLive: SQL = sql`s.expires_at > ${nowInStatement} and (s.api_key_id is null or ${isValidKey})`;

/** `seconds`: the lifetime of the session. False: the tenant is not active. */
export async function beginSession(
  executor: Executor,
  tokenHash: string,
  { tenantId, key }: { tenantId: TenantId; key: KeyRef },
  seconds: number,
): Promise<boolean> {
  const rows = await executor.execute(sql`/* sessions.begin */
    insert into sessions (token_hash, tenant_id, key_id, api_key_id, expires_at)
    select ${tokenHash}, t.id, ${key.kind === 'env' ? key.id : null}::text,
      ${key.kind === 'made' ? key.id : null}::uuid, ${nowInStatement} + ${seconds} * interval '1 second'
    from tenants t where t.id = ${tenantId} and t.status = 'active' returning 1`);
  return rows.length > 0;
}

type SessionRow = {
  tenantId: TenantId;
  tenantName: string;
  tenantStatus: TenantStatus;
  allow: Allow;
  limits: TenantLimits;
  keyId: string | null;
  apiKeyId: ApiKeyId | null;
  scopes: string | null;
};

/** Null: no such session, or it has expired, or its key has. */
export async function findSession(executor: Executor, tokenHash: string): Promise<StoredSession | null> {
  const [found] = await executor.execute<SessionRow>(sql`/* sessions.find */
    select s.tenant_id as "tenantId", t.name as "tenantName", t.status as "tenantStatus", t.allow, t.limits,
      s.key_id as "keyId",
      s.api_key_id as "apiKeyId", k.scopes
    from sessions s join tenants t on t.id = s.tenant_id left join api_keys k on k.id = s.api_key_id
    where s.token_hash = ${tokenHash} and ${isLive}`);
  if (found === undefined) return null;
  const { scopes, ...session } = found;
  const { tenantId, tenantName, tenantStatus, allow, limits } = session;
  const ofTenant = { tenantId, tenantName, tenantStatus, allow, limits };
  return { ...ofTenant, key: keyOf(found), scopes: new Set(parseScopes(scopes ?? '')) };
}

function keyOf({ keyId, apiKeyId }: Pick<SessionRow, 'keyId' | 'apiKeyId'>): KeyRef {
  return apiKeyId === null ? { kind: 'env', id: keyId ?? '' } : { kind: 'made', id: apiKeyId };
}

/** The hashes of those sessions that exist and have not expired, nor their keys, in one query. */
export async function findLiveSessions(
  executor: Executor,
  tokenHashes: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await executor.execute<{ hash: string }>(sql`
    select s.token_hash as hash from jsonb_array_elements_text(${encodeJson(tokenHashes)}::jsonb) as a(hash)
    join sessions s on s.token_hash = a.hash left join api_keys k on k.id = s.api_key_id
    where ${isLive} and ${isActive(sql`s.tenant_id`)}`);
  return new Set(rows.map(({ hash }) => hash));
}

/** Whether the session has not ended. If so, it does not end before the transaction does. */
export async function holdSession(tx: Executor, tokenHash: string): Promise<boolean> {
  const rows = await tx.execute(sql`/* sessions.hold */
    select 1 from sessions s left join api_keys k on k.id = s.api_key_id
    where s.token_hash = ${tokenHash} and ${isLive} and ${isActive(sql`s.tenant_id`)} for share of s`);
  return rows.length > 0;
}

/** Returns what it began with. Null: no such session. */
export async function endSession(
  tx: Executor,
  tokenHash: string,
): Promise<Pick<StoredSession, 'tenantId' | 'key'> | null> {
  const [ended] = await tx.execute<Pick<SessionRow, 'tenantId' | 'keyId' | 'apiKeyId'>>(sql`/* sessions.end */
    delete from sessions s where s.token_hash = ${tokenHash}
    returning s.tenant_id as "tenantId", s.key_id as "keyId", s.api_key_id as "apiKeyId"`);
  return ended === undefined ? null : { tenantId: ended.tenantId, key: keyOf(ended) };
}

/** Deletes expired sessions, at most `most`. Returns how many were deleted. */
export async function forgetSessions(executor: Executor, most: number): Promise<number> {
  const rows = await executor.execute(sql`/* sessions.delete_expired */
    with expired as materialized (
      select s.token_hash from sessions s where s.expires_at <= ${nowInStatement} limit ${most} for update skip locked
    )
    delete from sessions s using expired where s.token_hash = expired.token_hash returning 1`);
  return rows.length;
}
