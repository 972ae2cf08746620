/**
 * Tokens: JSON Web Tokens (RFC 7519), signed with a key that is derived from NIGHTSHIFT_SECRET_KEY. Their type,
 * algorithm, issuer and `aud` are fixed, so that no other JWT passes for one (RFC 8725). The first secret signs; all
 * verify, so that the secret can be changed.
 */
import { createHash, createHmac, hkdfSync, randomUUID } from 'node:crypto';
import type { JWTPayload } from 'jose';
import type { KeyRef } from '../../core/access/api-keys.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import { parseId, type ApiKeyId, type ContextId, type TenantId } from '../../core/ids.ts';
import { isJsonObject } from '../../core/json.ts';
import { once } from '../../core/once.ts';
import type { Scopes } from '../../core/access/scopes.ts';
import type { Millis } from '../../core/time.ts';
import { LONGEST_TOKEN_S, TOKEN_SCOPES, type Token } from '../../core/access/tokens.ts';
import { parseUser } from '../../core/access/user.ts';
import type { Database, Executor } from '../../db/connection/client.ts';
import { findLiveTokens, findToken, issueTime, type TokenRef } from '../../db/write/tokens.ts';
import type { CredentialTenant } from '../../db/write/tenants/tenants.ts';
import { createBriefCache } from './brief-cache.ts';
import { openCredentialStreams } from './credential-streams.ts';
import type { EnvironmentKeys } from './environment-keys.ts';
import { secretHash } from './secret-hash.ts';

const ALGORITHM = 'HS256';
const TYPE = 'nightshift+jwt';
const ISSUER = 'nightshift';
const API = 'nightshift-api';

/** Loaded when it is needed: most processes verify no token. */
const jose = once(() => import('jose'));

export type NewToken = Omit<Token, 'id' | 'issuedAt' | 'expiresAt'> & { lifetimeS: number };
export type IssuedToken = { kind: 'issued'; id: string; text: string; expiresAt: Millis };

/** `scopes`: those of the token that its key has. */
type FoundToken = CredentialTenant & { token: Token; scopes: Scopes };

type Tokens = {
  issue(token: NewToken): Promise<IssuedToken | Refusal>;
  /** Null: it is no token of this installation, or it has ended. */
  find(text: string): Promise<FoundToken | null>;
  /** Whether it has not ended, without any cache. */
  isValid(executor: Executor, token: TokenRef): Promise<boolean>;
  /** Calls `end` when the token has ended. Returns a function that unregisters `end`. */
  whileValid(token: TokenRef, end: () => void): () => void;
};

export const NEEDS_KEY = refuse(
  'forbidden',
  'A token is made by an API key, and this request has none. Make a key, and use it.',
);

const NO_SECRET = refuse(
  'unsupported',
  'Tokens need NIGHTSHIFT_SECRET_KEY, the same in every API process (openssl rand -hex 32).',
);

/** Whether a bearer credential is to be verified as a token. API keys contain no dot in this place. */
export function looksLikeToken(text: string): boolean {
  return /^eyJ[\w-]*[.][\w-]+[.][\w-]+$/.test(text);
}

export function openTokens(
  { db }: Pick<Database, 'db'>,
  secrets: readonly string[],
  { ids, scopesOf }: Pick<EnvironmentKeys, 'ids' | 'scopesOf'>,
): Tokens {
  const keys = new Map(secrets.map((secret) => signingKeyOf(secret, ids)).map((key) => [key.id, key]));
  const [signing] = keys.values();
  const streams = openCredentialStreams(
    ({ id }: TokenRef) => id,
    (tokens) => findLiveTokens(db, tokens),
  );

  async function verified(text: string): Promise<Token | null> {
    const { decodeProtectedHeader, errors, jwtVerify } = await jose();
    try {
      const key = keys.get(decodeProtectedHeader(text).kid ?? '');
      if (key === undefined) return null;
      const { payload } = await jwtVerify(text, key.secret, {
        algorithms: [ALGORITHM],
        typ: TYPE,
        issuer: ISSUER,
        audience: API,
        // Whether it has expired is asked of PostgreSQL, whose clock also set the time.
        clockTolerance: LONGEST_TOKEN_S,
      });
      return parseClaims(payload, key);
    } catch (error) {
      // A header that is no JSON is a `TypeError`.
      if (error instanceof errors.JOSEError || error instanceof TypeError) return null;
      throw error;
    }
  }

  const stored = createBriefCache(async (text: string): Promise<FoundToken | null> => {
    const token = await verified(text);
    if (token === null) return null;
    const state = await findToken(db, token);
    if (state === null) return null;
    const ofKey = state.scopes ?? scopesOf(token.key.id, state.tenantName);
    if (ofKey === undefined) return null;
    return { ...state, token, scopes: new Set(token.scopes.filter((scope) => ofKey.has(scope))) };
  }, secretHash);

  return {
    async issue({ lifetimeS, ...token }) {
      if (signing === undefined) return NO_SECRET;
      const { at: issuedAt, keyEndsAt } = await issueTime(db, token);
      const expiresAt = Math.min(issuedAt + lifetimeS * 1_000, keyEndsAt ?? Infinity);
      const id = randomUUID();
      const { SignJWT } = await jose();
      const text = await new SignJWT(toClaims({ ...token, id, issuedAt, expiresAt }, signing))
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: signing.id })
        .sign(signing.secret);
      return { kind: 'issued', id, text, expiresAt };
    },
    find: (text) => stored.get(text),
    isValid: async (executor, token) => (await findLiveTokens(executor, [token])).has(token.id),
    whileValid: (token, end) => streams.add(token, end),
  };
}

/** `names`: of keys of the environment, by what a token says in place of their ids: it can be read by its user. */
type SigningKey = { id: string; secret: Uint8Array; names: ReadonlyMap<string, string> };

/** The id tells which secret it is derived from, and nothing about it. */
function signingKeyOf(secret: string, keyIds: readonly string[]): SigningKey {
  const derived = new Uint8Array(hkdfSync('sha256', secret, '', 'nightshift tokens', 32));
  const id = createHash('sha256').update(derived).digest('base64url').slice(0, 8);
  return { id, secret: derived, names: new Map(keyIds.map((keyId) => [hiddenId(keyId, derived), keyId])) };
}

function hiddenId(keyId: string, secret: Uint8Array): string {
  return createHmac('sha256', secret).update(keyId).digest('base64url').slice(0, 16);
}

/** Times of a JWT are in seconds, and may have a fraction. */
function toClaims(token: Token, { secret }: SigningKey): JWTPayload {
  const { id, tenantId, user, key, scopes, contextIds, metadata, issuedAt, expiresAt } = token;
  return {
    iss: ISSUER,
    aud: API,
    sub: user,
    jti: id,
    iat: issuedAt / 1_000,
    exp: expiresAt / 1_000,
    tenant: tenantId,
    key: key.kind === 'env' ? `env:${hiddenId(key.id, secret)}` : `made:${key.id}`,
    scope: scopes.join(' '),
    ...(contextIds !== null && { contexts: contextIds }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** Null: its key is gone, or another version signed it, with other claims. */
function parseClaims(payload: JWTPayload, { names }: SigningKey): Token | null {
  const { sub, jti, iat, exp, tenant, key, scope, contexts, metadata = {} } = payload;
  const user = parseUser(sub);
  const issuer = typeof key === 'string' ? parseKeyRef(key, names) : null;
  const contextIds = contexts === undefined ? null : parseContextIds(contexts);
  if (user === null || issuer === null || jti === undefined || iat === undefined || exp === undefined) return null;
  if (!isTenantId(tenant) || typeof scope !== 'string' || contextIds === undefined) return null;
  if (!isJsonObject(metadata)) return null;
  const given = scope.split(' ');
  return {
    id: jti,
    tenantId: tenant,
    user,
    key: issuer,
    scopes: TOKEN_SCOPES.filter((one) => given.includes(one)),
    contextIds,
    metadata,
    issuedAt: Math.round(iat * 1_000),
    expiresAt: Math.round(exp * 1_000),
  };
}

function isTenantId(value: unknown): value is TenantId {
  return Number.isSafeInteger(value);
}

function parseKeyRef(text: string, names: SigningKey['names']): KeyRef | null {
  const [kind, id = ''] = text.split(':', 2);
  const ofEnvironment = names.get(id);
  if (kind === 'env') return ofEnvironment === undefined ? null : { kind, id: ofEnvironment };
  const made = parseId<ApiKeyId>(id);
  return kind === 'made' && made !== null ? { kind, id: made } : null;
}

/** Undefined: it is no list of ids. */
function parseContextIds(contexts: unknown): ContextId[] | undefined {
  if (!Array.isArray(contexts)) return undefined;
  const ids = contexts.map((id: unknown) => (typeof id === 'string' ? parseId<ContextId>(id) : null));
  return ids.every((id) => id !== null) ? ids : undefined;
}
