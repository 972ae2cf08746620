/** Browser sessions: their tenant and API key, and when they expire. */
import { sql } from 'drizzle-orm';
import type { TenantId } from '../../core/ids.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { nowInStatement } from '../connection/instant.ts';

export type StoredSession = { tenantId: TenantId; tenantName: string; keyId: string };

/** `seconds`: the lifetime of the session. */
export async function beginSession(
  executor: Executor,
  tokenHash: string,
  { tenantId, keyId }: Pick<StoredSession, 'tenantId' | 'keyId'>,
  seconds: number,
): Promise<void> {
  await executor.execute(sql`/* sessions.begin */
    insert into sessions (token_hash, tenant_id, key_id, expires_at)
    values (${tokenHash}, ${tenantId}, ${keyId}, ${nowInStatement} + ${seconds} * interval '1 second')`);
}

/** Null: no such session, or it has expired. */
export async function findSession(executor: Executor, tokenHash: string): Promise<StoredSession | null> {
  const [found] = await executor.execute<StoredSession>(sql`/* sessions.find */
    select s.tenant_id as "tenantId", t.name as "tenantName", s.key_id as "keyId"
    from sessions s join tenants t on t.id = s.tenant_id
    where s.token_hash = ${tokenHash} and s.expires_at > ${nowInStatement}`);
  return found ?? null;
}

/** The hashes of those sessions that exist and have not expired, in one query. */
export async function findLiveSessions(
  executor: Executor,
  tokenHashes: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await executor.execute<{ hash: string }>(sql`
    select s.token_hash as hash from jsonb_array_elements_text(${encodeJson(tokenHashes)}::jsonb) as a(hash)
    join sessions s on s.token_hash = a.hash and s.expires_at > ${nowInStatement}`);
  return new Set(rows.map(({ hash }) => hash));
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
