/**
 * Browser sessions, of a tenant or of the operator. The cookie holds a random token; the database stores its hash with
 * the tenant, and the key or the user that began it. A session ends on sign-out, with its key, or when the groups of its
 * user have no grant any more. Every API process knows within a second, and ends its event streams.
 */
import { randomBytes } from 'node:crypto';
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { AccessHeaders, AccessRequest } from './access-request.ts';
import type { KeyRef } from '../../core/access/api-keys.ts';
import type { Scopes } from '../../core/access/scopes.ts';
import type { User } from '../../core/access/user.ts';
import type { Database, Executor } from '../../db/connection/client.ts';
import {
  beginSession,
  endSession,
  findLiveSessions,
  findSession,
  type OperatorSession,
  type SessionOwner,
  type SignedInBy,
  type SignedInUser,
  type TenantSession,
} from '../../db/write/sessions.ts';
import { isRevokedSince, lockUser } from '../../db/write/tokens.ts';
import type { Millis } from '../../core/time.ts';
import { createBriefCache } from './brief-cache.ts';
import { openCredentialStreams } from './credential-streams.ts';
import { secretHash } from './secret-hash.ts';

/** The cookie name without TLS, usually on localhost. */
export const PLAIN_COOKIE = 'nightshift_session';
/** Browsers accept a `__Host-` cookie only over TLS and from this host, so no sibling domain can set it. */
const SECURE_COOKIE = `__Host-${PLAIN_COOKIE}`;

/** How long a browser stays signed in, in seconds: with a key a week. */
const SESSION_S = 7 * 24 * 60 * 60;
/** With the admin key, or with OpenID Connect: a working day. */
const SHORT_SESSION_S = 8 * 60 * 60;

const TOKEN = /^[\w-]{43}$/;

/** Identifies a session: the hash of its token. */
export type SessionHash = string;
type OpenSession = { session: SessionHash } & (
  | OperatorSession
  | (Omit<TenantSession, 'owner'> & { key: KeyRef | null; user: User | null })
);

/** `lifetimeS`: in seconds. */
export type BegunSession = { cookie: string; lifetimeS: number };

/** What is not stored. `adminKeyId`: null: there is no admin key. The scopes: undefined: the key or the grant has ended. */
export type OwnerScopes = {
  adminKeyId: string | null;
  ofEnvironmentKey: (keyId: string, tenantName: string) => Scopes | undefined;
  ofUser: (owner: Extract<SessionOwner, { kind: 'user' }>, tenantName: string) => Scopes | undefined;
};

/** Records that a session began or ended. */
export type RecordSession = (tx: Executor, by: SignedInBy) => Promise<void>;

/** The session that this browser had, and what records its end. */
export type Replaced = { session: SessionHash; record: RecordSession };

/** `begunAt`: when the sign-in began, by the clock of the database. `replaced`: null: none. */
export type Entry = { begunAt: Millis; replaced: Replaced | null };

/** `revoked`: the sessions of the user were ended after the sign-in began. */
export type Entered = (BegunSession & { kind: 'begun' }) | { kind: 'inactive' } | { kind: 'revoked' };

type Sessions = {
  /** Stores a session, in one transaction with what records it. Null: the tenant is not active. */
  begin(by: SignedInBy, record: RecordSession): Promise<BegunSession | null>;
  /** The same for a user of the OpenID provider. Ends the session that it replaces in the same transaction. */
  enter(by: SignedInUser, record: RecordSession, entry: Entry): Promise<Entered>;
  /** Null: no such session. */
  find(token: string): Promise<OpenSession | null>;
  /** In one transaction with `record`, if there is such a session. */
  end(session: SessionHash, record: RecordSession): Promise<void>;
  /** Calls `end` when the session has ended. Returns a function that unregisters `end`. */
  whileOpen(session: SessionHash, end: () => void): () => void;
};

export function openSessions(
  { db, transaction }: Pick<Database, 'db' | 'transaction'>,
  { adminKeyId, ofEnvironmentKey, ofUser }: OwnerScopes,
): Sessions {
  const streams = openCredentialStreams(
    (hash: SessionHash) => hash,
    (hashes) => findLiveSessions(db, hashes),
  );
  const stored = createBriefCache((tokenHash: SessionHash) => findSession(db, tokenHash));

  function scopesOf({ owner, scopes, tenantName }: TenantSession): Scopes | undefined {
    if (owner.kind === 'user') return ofUser(owner, tenantName);
    return owner.key.kind === 'made' ? scopes : ofEnvironmentKey(owner.key.id, tenantName);
  }

  async function endIn(tx: Executor, { session, record }: Replaced): Promise<void> {
    const by = await endSession(tx, session);
    if (by !== null) await record(tx, by);
  }

  function forget(session: SessionHash): void {
    stored.forget(session);
    streams.end(session);
  }

  async function beginIn(tx: Executor, by: SignedInBy, record: RecordSession): Promise<BegunSession | null> {
    const cookie = randomBytes(32).toString('base64url');
    const lifetimeS = by.kind === 'tenant' && by.owner.kind === 'key' ? SESSION_S : SHORT_SESSION_S;
    if (!(await beginSession(tx, secretHash(cookie), by, lifetimeS))) return null;
    await record(tx, by);
    return { cookie, lifetimeS };
  }

  return {
    begin: (by, record) => transaction((tx) => beginIn(tx, by, record)),
    async enter(by, record, { begunAt, replaced }) {
      const { tenantId, owner } = by;
      const entered = await transaction(async (tx): Promise<Entered> => {
        await lockUser(tx, tenantId, owner.user);
        if (await isRevokedSince(tx, { tenantId, user: owner.user }, begunAt)) return { kind: 'revoked' };
        const begun = await beginIn(tx, by, record);
        if (begun === null) return { kind: 'inactive' };
        if (replaced !== null) await endIn(tx, replaced);
        return { kind: 'begun', ...begun };
      });
      if (entered.kind === 'begun' && replaced !== null) forget(replaced.session);
      return entered;
    },
    async find(token) {
      if (!TOKEN.test(token)) return null;
      const session = secretHash(token);
      const found = await stored.get(session);
      if (found === null) return null;
      if (found.kind === 'operator') return found.keyId === adminKeyId ? { ...found, session } : null;
      const scopes = scopesOf(found);
      if (scopes === undefined) return null;
      const { owner, ...rest } = found;
      const key = owner.kind === 'key' ? owner.key : null;
      return { ...rest, session, scopes, key, user: owner.kind === 'user' ? owner.user : null };
    },
    async end(session, record) {
      await transaction((tx) => endIn(tx, { session, record }));
      forget(session);
    },
    whileOpen: (session, end) => streams.add(session, end),
  };
}

/** The token in the session cookie; null: no cookie. */
export function tokenIn({ cookies, headers }: AccessRequest): string | null {
  const secure = cookies[SECURE_COOKIE];
  if (secure !== undefined) return secure;
  // Over TLS a sibling domain may have set the other cookie.
  return isSecure(headers) ? null : (cookies[PLAIN_COOKIE] ?? null);
}

/** The session that the cookie names, whether it has ended or not; null: no such cookie. */
export function sessionIn(request: AccessRequest): SessionHash | null {
  const token = tokenIn(request) ?? '';
  return TOKEN.test(token) ? secretHash(token) : null;
}

type Cookie = { name: string; options: CookieSerializeOptions };

/** The token grants access: no script may read the cookie, and no other site may make the browser send it. */
export function cookieFor({ headers }: Pick<AccessRequest, 'headers'>): Cookie {
  return sessionCookie(isSecure(headers));
}

/** `secure`: whether the browser uses TLS. */
export function sessionCookie(secure: boolean): Cookie {
  return {
    name: secure ? SECURE_COOKIE : PLAIN_COOKIE,
    options: { httpOnly: true, sameSite: 'strict', path: '/', secure },
  };
}

/** Whether the browser uses TLS, usually to a proxy. A client that lies about it only changes its own cookie. */
function isSecure(headers: AccessHeaders): boolean {
  const [forwarded = ''] = String(headers['x-forwarded-proto'] ?? '').split(',');
  return forwarded.trim() === 'https' || (headers.origin ?? '').startsWith('https:');
}
