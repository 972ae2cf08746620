/**
 * Browser sessions, of a tenant or of the operator. The cookie holds a random token; the database stores its hash with
 * the tenant and the key. A session ends on sign-out or with its key. Every API process knows within a second, and ends
 * its event streams.
 */
import { randomBytes } from 'node:crypto';
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { AccessHeaders, AccessRequest } from './access-request.ts';
import type { Scopes } from '../../core/access/scopes.ts';
import type { Database, Executor } from '../../db/connection/client.ts';
import {
  beginSession,
  endSession,
  findLiveSessions,
  findSession,
  type SignedInBy,
  type StoredSession,
} from '../../db/write/sessions.ts';
import { createBriefCache } from './brief-cache.ts';
import { openCredentialStreams } from './credential-streams.ts';
import { secretHash } from './secret-hash.ts';

/** The cookie name without TLS, usually on localhost. */
export const PLAIN_COOKIE = 'nightshift_session';
/** Browsers accept a `__Host-` cookie only over TLS and from this host, so no sibling domain can set it. */
const SECURE_COOKIE = `__Host-${PLAIN_COOKIE}`;

/** How long a browser stays signed in, in seconds: a week. */
const SESSION_S = 7 * 24 * 60 * 60;
/** And how long the operator does: a working day. */
const OPERATOR_SESSION_S = 8 * 60 * 60;

const TOKEN = /^[\w-]{43}$/;

/** Identifies a session: the hash of its token. */
export type SessionHash = string;
type OpenSession = StoredSession & { session: SessionHash };

/** `lifetimeS`: in seconds. */
export type BegunSession = { cookie: string; lifetimeS: number };

/** Records that a session began or ended. */
export type RecordSession = (tx: Executor, by: SignedInBy) => Promise<void>;

type Sessions = {
  /** Stores a session for this key, in one transaction with `record`. Null: the tenant is not active. */
  begin(by: SignedInBy, record: RecordSession): Promise<BegunSession | null>;
  /** Null: no such session. */
  find(token: string): Promise<OpenSession | null>;
  /** In one transaction with `record`, if there is such a session. */
  end(token: string, record: RecordSession): Promise<void>;
  /** Calls `end` when the session has ended. Returns a function that unregisters `end`. */
  whileOpen(session: SessionHash, end: () => void): () => void;
};

/** `scopesOf`: of a key of the environment. `adminKeyId`: null: there is no admin key. */
export function openSessions(
  { db, transaction }: Pick<Database, 'db' | 'transaction'>,
  scopesOf: (keyId: string, tenantName: string) => Scopes | undefined,
  adminKeyId: string | null,
): Sessions {
  const streams = openCredentialStreams(
    (hash: SessionHash) => hash,
    (hashes) => findLiveSessions(db, hashes),
  );
  const stored = createBriefCache((tokenHash: SessionHash) => findSession(db, tokenHash));
  return {
    async begin(by, record) {
      const cookie = randomBytes(32).toString('base64url');
      const lifetimeS = by.kind === 'operator' ? OPERATOR_SESSION_S : SESSION_S;
      return transaction(async (tx) => {
        if (!(await beginSession(tx, secretHash(cookie), by, lifetimeS))) return null;
        await record(tx, by);
        return { cookie, lifetimeS };
      });
    },
    async find(token) {
      if (!TOKEN.test(token)) return null;
      const session = secretHash(token);
      const found = await stored.get(session);
      if (found === null) return null;
      if (found.kind === 'operator') return found.keyId === adminKeyId ? { ...found, session } : null;
      const { tenantName, key } = found;
      const scopes = key.kind === 'made' ? found.scopes : scopesOf(key.id, tenantName);
      return scopes === undefined ? null : { ...found, session, scopes };
    },
    async end(token, record) {
      if (!TOKEN.test(token)) return;
      const session = secretHash(token);
      await transaction(async (tx) => {
        const by = await endSession(tx, session);
        if (by !== null) await record(tx, by);
      });
      stored.forget(session);
      streams.end(session);
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

type Cookie = { name: string; options: CookieSerializeOptions };

/** The token grants access: no script may read the cookie, and no other site may make the browser send it. */
export function cookieFor({ headers }: Pick<AccessRequest, 'headers'>): Cookie {
  const secure = isSecure(headers);
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
