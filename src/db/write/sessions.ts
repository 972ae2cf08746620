/** Browser sessions: of a tenant, by an API key or by a user of the OpenID provider; or of the operator, by the admin key. */
import { sql, type SQL } from 'drizzle-orm';
import type { KeyRef } from '../../core/access/api-keys.ts';
import type { ApiKeyId, TenantId } from '../../core/ids.ts';
import type { KeyLimits } from '../../core/access/quotas.ts';
import type { Scopes } from '../../core/access/scopes.ts';
import type { User } from '../../core/access/user.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { nowInStatement } from '../connection/instant.ts';
import { isValidKey, parseScopes } from './api-keys.ts';
import { credentialTenant, credentialTenantOf, isActive, type CredentialTenant } from './tenants/tenants.ts';

/**
 * Who began a session of a tenant. A key: it ends with the key. A user of the OpenID provider: `groups` are those that
 * gave access to the tenant.
 */
export type SessionOwner = { kind: 'key'; key: KeyRef } | UserOwner;
type UserOwner = { kind: 'user'; user: User; groups: readonly string[] };

/** `keyId`: of the admin key. The session ends with the key. */
export type OperatorSession = { kind: 'operator'; keyId: string };

/** Who signed in. */
export type SignedInBy = { kind: 'tenant'; tenantId: TenantId; owner: SessionOwner } | OperatorSession;
export type SignedInUser = { kind: 'tenant'; tenantId: TenantId; owner: UserOwner };

/** `scopes`: of a key that the API made; those of the environment, and of groups, are not stored. */
export type TenantSession = CredentialTenant & {
  kind: 'tenant';
  owner: SessionOwner;
  scopes: Scopes;
  /** Of a key that the API made. */
  keyLimits: KeyLimits;
};

export type StoredSession = OperatorSession | TenantSession;

/** A condition on a session `s` and its key `k`, if the API made it. */
const isLive: SQL = sql`s.expires_at > ${nowInStatement} and (s.api_key_id is null or ${isValidKey})`;

/** Whether the tenant of a session `s` is active; the operator has none. */
const isOfActive: SQL = sql`(s.tenant_id is null or ${isActive(sql`s.tenant_id`)})`;

/** `seconds`: the lifetime of the session. False: the tenant is not active. */
export async function beginSession(
  executor: Executor,
  tokenHash: string,
  by: SignedInBy,
  seconds: number,
): Promise<boolean> {
  if (by.kind === 'operator') {
    await executor.execute(sql`/* sessions.begin_of_operator */
      insert into sessions (token_hash, key_id, expires_at)
      values (${tokenHash}, ${by.keyId}, ${nowInStatement} + ${seconds} * interval '1 second')`);
    return true;
  }
  const { keyId, apiKeyId, user, groups } = toColumns(by.owner);
  const rows = await executor.execute(sql`/* sessions.begin */
    insert into sessions (token_hash, tenant_id, key_id, api_key_id, user_name, groups, expires_at)
    select ${tokenHash}, t.id, ${keyId}::text, ${apiKeyId}::uuid, ${user}::text,
      ${groups === null ? null : encodeJson(groups)}::jsonb, ${nowInStatement} + ${seconds} * interval '1 second'
    from tenants t where t.id = ${by.tenantId} and t.status = 'active' returning 1`);
  return rows.length > 0;
}

type OwnerColumns = {
  keyId: string | null;
  apiKeyId: ApiKeyId | null;
  user: User | null;
  groups: readonly string[] | null;
};

const OWNER: SQL = sql`s.key_id as "keyId", s.api_key_id as "apiKeyId", s.user_name as "user", s.groups`;

function toColumns(owner: SessionOwner): OwnerColumns {
  const none = { keyId: null, apiKeyId: null, user: null, groups: null };
  if (owner.kind === 'user') return { ...none, user: owner.user, groups: owner.groups };
  const { key } = owner;
  return key.kind === 'env' ? { ...none, keyId: key.id } : { ...none, apiKeyId: key.id };
}

function ownerOf({ keyId, apiKeyId, user, groups }: OwnerColumns): SessionOwner {
  if (user !== null) return { kind: 'user', user, groups: groups ?? [] };
  return { kind: 'key', key: apiKeyId === null ? { kind: 'env', id: keyId ?? '' } : { kind: 'made', id: apiKeyId } };
}

type SessionRow = OwnerColumns &
  ({ tenantId: null } | (Omit<TenantSession, 'kind' | 'owner' | 'scopes'> & { scopes: string | null }));

/** Null: no such session, or it has expired, or its key has. */
export async function findSession(executor: Executor, tokenHash: string): Promise<StoredSession | null> {
  const [found] = await executor.execute<SessionRow>(sql`/* sessions.find */
    select ${credentialTenant}, ${OWNER}, k.scopes, coalesce(k.limits, '{}') as "keyLimits"
    from sessions s left join tenants t on t.id = s.tenant_id left join api_keys k on k.id = s.api_key_id
    where s.token_hash = ${tokenHash} and (s.tenant_id is null or t.id is not null) and ${isLive}`);
  if (found === undefined) return null;
  if (found.tenantId === null) return { kind: 'operator', keyId: found.keyId ?? '' };
  const { keyLimits, scopes } = found;
  return {
    kind: 'tenant',
    ...credentialTenantOf(found),
    keyLimits,
    owner: ownerOf(found),
    scopes: new Set(parseScopes(scopes ?? '')),
  };
}

/** The hashes of those sessions that exist and have not expired, nor their keys, in one query. */
export async function findLiveSessions(
  executor: Executor,
  tokenHashes: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await executor.execute<{ hash: string }>(sql`
    select s.token_hash as hash from jsonb_array_elements_text(${encodeJson(tokenHashes)}::jsonb) as a(hash)
    join sessions s on s.token_hash = a.hash left join api_keys k on k.id = s.api_key_id
    where ${isLive} and ${isOfActive}`);
  return new Set(rows.map(({ hash }) => hash));
}

/** Whether the session has not ended. If so, it does not end before the transaction does. */
export async function holdSession(tx: Executor, tokenHash: string): Promise<boolean> {
  const rows = await tx.execute(sql`/* sessions.hold */
    select 1 from sessions s left join api_keys k on k.id = s.api_key_id
    where s.token_hash = ${tokenHash} and ${isLive} and ${isOfActive} for share of s`);
  return rows.length > 0;
}

/** Returns who began it. Null: no such session. */
export async function endSession(tx: Executor, tokenHash: string): Promise<SignedInBy | null> {
  const [ended] = await tx.execute<OwnerColumns & { tenantId: TenantId | null }>(sql`/* sessions.end */
    delete from sessions s where s.token_hash = ${tokenHash} returning s.tenant_id as "tenantId", ${OWNER}`);
  if (ended === undefined) return null;
  const { tenantId, keyId } = ended;
  return tenantId === null
    ? { kind: 'operator', keyId: keyId ?? '' }
    : { kind: 'tenant', tenantId, owner: ownerOf(ended) };
}

/** Ends all sessions that the user has in the tenant by sign-in at the OpenID provider. */
export async function endSessionsOf(tx: Executor, tenantId: TenantId, user: User): Promise<void> {
  await tx.execute(sql`/* sessions.end_of_user */
    delete from sessions s where s.tenant_id = ${tenantId} and s.user_name = ${user}`);
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
