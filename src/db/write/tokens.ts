/**
 * What ends tokens before they expire. Tokens are not stored: their signature proves them, the row of their key must be
 * valid, and those of a user that were made before a revocation have ended.
 */
import { sql } from 'drizzle-orm';
import type { TenantId } from '../../core/ids.ts';
import type { Scopes } from '../../core/access/scopes.ts';
import type { Millis } from '../../core/time.ts';
import { LONGEST_TOKEN_S, type Token } from '../../core/access/tokens.ts';
import type { User } from '../../core/access/user.ts';
import type { Executor } from '../connection/client.ts';
import { dueNow, millis, nowInStatement, toTimestamp } from '../connection/instant.ts';
import { columns, recordset } from '../rows/recordset.ts';
import { isValidKey, parseScopes } from './api-keys.ts';
import { credentialTenant, isActive, type CredentialTenant } from './tenants/tenants.ts';

/** The parts of a token that decide whether it has ended. */
export type TokenRef = Pick<Token, 'id' | 'tenantId' | 'user' | 'key' | 'issuedAt' | 'expiresAt'>;

/** `scopes`: of the key that made it; null: a key of the environment, whose scopes are not stored. */
type TokenState = CredentialTenant & { scopes: Scopes | null };

const TOKENS = recordset<TokenRef>(
  'a',
  columns({
    id: ['text', ({ id }) => id],
    tenant: ['bigint', ({ tenantId }) => tenantId],
    user_name: ['text', ({ user }) => user],
    key_id: ['uuid', ({ key }) => (key.kind === 'made' ? key.id : null)],
    issued_at: ['timestamptz', ({ issuedAt }) => issuedAt],
    expires_at: ['timestamptz', ({ expiresAt }) => expiresAt],
  }),
);

/** Tokens `a` with the keys that made them, `k`. */
const valid = (tokens: readonly TokenRef[]) => sql`${TOKENS.table(tokens)}
  left join api_keys k on k.id = a.key_id and k.tenant_id = a.tenant and ${isValidKey}
  where (a.key_id is null or k.id is not null) and a.expires_at > ${nowInStatement}
    and not exists (select 1 from token_revocations r
      where r.tenant_id = a.tenant and r.user_name = a.user_name and r.revoked_at >= a.issued_at)`;

/** Null: it has ended. */
export async function findToken(executor: Executor, token: TokenRef): Promise<TokenState | null> {
  type Row = Omit<TokenState, 'scopes'> & { scopes: string | null };
  const [found] = await executor.execute<Row>(sql`/* tokens.find */
    select ${credentialTenant}, a.scopes
    from (select a.tenant, k.scopes from ${valid([token])}) a join tenants t on t.id = a.tenant`);
  if (found === undefined) return null;
  const { scopes, ...tenant } = found;
  return { ...tenant, scopes: scopes === null ? null : new Set(parseScopes(scopes)) };
}

/** The ids of those that have not ended, in one query. */
export async function findLiveTokens(executor: Executor, tokens: readonly TokenRef[]): Promise<ReadonlySet<string>> {
  const rows = await executor.execute<{ id: string }>(
    sql`select a.id from ${valid(tokens)} and ${isActive(sql`a.tenant`)}`,
  );
  return new Set(rows.map(({ id }) => id));
}

/** `keyEndsAt`: when the key that makes the token expires; null: it does not. */
type IssueTime = { at: Millis; keyEndsAt: Millis | null };

/** When a token of the user is made now: after the last revocation, also in its millisecond. */
export async function issueTime(
  executor: Executor,
  { tenantId, user, key }: Pick<Token, 'tenantId' | 'user' | 'key'>,
): Promise<IssueTime> {
  const keyId = key.kind === 'made' ? key.id : null;
  const [row] = await executor.execute<IssueTime>(sql`/* tokens.issue */
    select ${millis(sql`greatest(${dueNow}, max(r.revoked_at) + interval '1 millisecond')`)} as at,
      (select ${millis(sql`k.expires_at`)} from api_keys k where k.id = ${keyId}::uuid) as "keyEndsAt"
    from token_revocations r where r.tenant_id = ${tenantId} and r.user_name = ${user}`);
  if (row === undefined) throw new Error('An aggregate has one row.');
  return row;
}

/**
 * Waits until no other transaction begins sessions of the user in the tenant or ends them. None does before this one
 * ends.
 */
export async function lockUser(tx: Executor, tenantId: TenantId, user: User): Promise<void> {
  await tx.execute(sql`/* tokens.lock_user */
    select pg_advisory_xact_lock(hashtextextended(${`nightshift user: ${tenantId} ${user}`}, 0))`);
}

/** Whether the access of the user was revoked at this time of the database, or later. */
export async function isRevokedSince(
  executor: Executor,
  { tenantId, user }: Pick<Token, 'tenantId' | 'user'>,
  time: Millis,
): Promise<boolean> {
  const rows = await executor.execute(sql`/* tokens.find_revocation */
    select 1 from token_revocations r where r.tenant_id = ${tenantId} and r.user_name = ${user}
      and r.revoked_at >= ${toTimestamp(time)}::timestamptz`);
  return rows.length > 0;
}

/** Ends all tokens of the user that exist. False: the tenant is being deleted. */
export async function revokeTokens(executor: Executor, tenantId: TenantId, user: User): Promise<boolean> {
  const rows = await executor.execute(sql`/* tokens.revoke */
    insert into token_revocations (tenant_id, user_name, revoked_at)
    select t.id, ${user}, ${dueNow} from tenants t where t.id = ${tenantId} and t.status <> 'deleting'
    on conflict (tenant_id, user_name)
      do update set revoked_at = greatest(token_revocations.revoked_at, excluded.revoked_at)
    returning 1`);
  return rows.length > 0;
}

/** Deletes revocations that are older than any token, at most `most`. Returns how many were deleted. */
export async function forgetRevocations(executor: Executor, most: number): Promise<number> {
  const rows = await executor.execute(sql`/* tokens.delete_old_revocations */
    with old as materialized (
      select r.tenant_id, r.user_name from token_revocations r
      where r.revoked_at < ${nowInStatement} - ${2 * LONGEST_TOKEN_S} * interval '1 second'
      limit ${most} for update skip locked
    )
    delete from token_revocations r using old
    where r.tenant_id = old.tenant_id and r.user_name = old.user_name returning 1`);
  return rows.length;
}
