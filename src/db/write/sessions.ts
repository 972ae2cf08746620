/** Browser sessions: their tenant and API key, and when they expire. */
import { sql, type SQL } from 'drizzle-orm';
import type { KeyRef } from '../../core/api-keys.ts';
import type { ApiKeyId, TenantId } from '../../core/ids.ts';
import type { Scopes } from '../../core/scopes.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { nowInStatement } from '../connection/instant.ts';
import { isValidKey, parseScopes } from './api-keys.ts';

/**
 * `key`: the one that it began with, and ends with. `scopes`: of a key that the API made; those of the environment are
 * not stored.
 */
export type StoredSession = { tenantId: TenantId; tenantName: string; key: KeyRef; scopes: Scopes };

/** A condition on a session `s` and its key `k`, if the API made it. */
const isLive: SQL = sql`s.expires_at > ${nowInStatement} and (s.api_key_id is null or ${isValidKey})`;

/** `seconds`: the lifetime of the session. */
export async function beginSession(
  executor: Executor,
  tokenHash: string,
  { tenantId, key }: { tenantId: TenantId; key: KeyRef },
  seconds: number,
): Promise<void> {
  await executor.execute(sql`/* sessions.begin */
    insert into sessions (token_hash, tenant_id, key_id, api_key_id, expires_at)
    values (${tokenHash}, ${tenantId}, ${key.kind === 'env' ? key.id : null}, ${key.kind === 'made' ? key.id : null},
      ${nowInStatement} + ${seconds} * interval '1 second')`);
}

type SessionRow = {
  tenantId: TenantId;
  tenantName: string;
  keyId: string | null;
  apiKeyId: ApiKeyId | null;
  scopes: string | null;
};

/** Null: no such session, or it has expired, or its key has. */
export async function findSession(executor: Executor, tokenHash: string): Promise<StoredSession | null> {
  const [found] = await executor.execute<SessionRow>(sql`/* sessions.find */
    select s.tenant_id as "tenantId", t.name as "tenantName", s.key_id as "keyId",
      s.api_key_id as "apiKeyId", k.scopes
    from sessions s join tenants t on t.id = s.tenant_id left join api_keys k on k.id = s.api_key_id
    where s.token_hash = ${tokenHash} and ${isLive}`);
  if (found === undefined) return null;
  const { keyId, apiKeyId, scopes, ...tenant } = found;
  const key: KeyRef = apiKeyId === null ? { kind: 'env', id: keyId ?? '' } : { kind: 'made', id: apiKeyId };
  return { ...tenant, key, scopes: new Set(parseScopes(scopes ?? '')) };
}

/** The hashes of those sessions that exist and have not expired, nor their keys, in one query. */
export async function findLiveSessions(
  executor: Executor,
  tokenHashes: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await executor.execute<{ hash: string }>(sql`
    select s.token_hash as hash from jsonb_array_elements_text(${encodeJson(tokenHashes)}::jsonb) as a(hash)
    join sessions s on s.token_hash = a.hash left join api_keys k on k.id = s.api_key_id where ${isLive}`);
  return new Set(rows.map(({ hash }) => hash));
}

/** Whether the session has not ended. If so, it does not end before the transaction does. */
export async function holdSession(tx: Executor, tokenHash: string): Promise<boolean> {
  const rows = await tx.execute(sql`/* sessions.hold */
    select 1 from sessions s left join api_keys k on k.id = s.api_key_id
    where s.token_hash = ${tokenHash} and ${isLive} for share of s`);
  return rows.length > 0;
}

export async function endSession(executor: Executor, tokenHash: string): Promise<void> {
  await executor.execute(sql`/* sessions.end */ delete from sessions where token_hash = ${tokenHash}`);
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
