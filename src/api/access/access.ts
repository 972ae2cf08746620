/**
 * Access control. With API keys, of the environment or made by the API, a request needs one, a token that a key made, or
 * a session cookie, and sees only the tenant of that key. The admin key sees the installation and no tenant. Without
 * keys, every request from this machine is allowed unless it comes from a web page of another origin. The `Host` check
 * prevents DNS rebinding, the `Origin` check cross-site requests. Browsers send cookies with requests of any page, so a
 * request with a cookie must come from a page of this origin.
 */
import type { Config } from '../../config/config.ts';
import { isLoopback } from '../../config/loopback.ts';
import { INVALID_KEY, idInKey, type KeyRef } from '../../core/api-keys.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import { DEFAULT_TENANT, DEFAULT_TENANT_NAME, type ApiKeyId, type TenantId } from '../../core/ids.ts';
import { ALL_SCOPES, type Scopes } from '../../core/scopes.ts';
import type { Token } from '../../core/tokens.ts';
import type { AccessHeaders, AccessRequest } from './access-request.ts';
import { keyId, keyTest, openEnvironmentKeys } from './environment-keys.ts';
import { openKeyCheck, openMadeKeys, type KeyCheck } from './made-keys.ts';
import { openSessions, tokenIn, type SessionHash, type SignedInBy } from './session.ts';
import { NEEDS_KEY, looksLikeToken, openTokens, type IssuedToken, type NewToken } from './tokens.ts';
import { createTenantIds } from './tenants.ts';
import type { Database, Executor } from '../../db/connection/client.ts';
import { hasKeys, holdKey } from '../../db/write/api-keys.ts';
import { holdSession } from '../../db/write/sessions.ts';
import type { TokenRef } from '../../db/write/tokens.ts';

/** Without keys, a caller is both the tenant and the operator. With keys, a caller is one of them. */
type Access = Tenant | Operator | Refusal;
type Tenant = {
  kind: 'tenant';
  tenantId: TenantId;
  tenantName: string;
  isOperator: boolean;
  scopes: Scopes;
  credential: Credential | null;
  /** The key that gives access, itself or by what it made; null: none is needed. */
  key: KeyRef | null;
  /** Limits access to contexts of one user; null: the whole tenant. */
  token: Token | null;
};
type Operator = { kind: 'operator' };

/** What may end while a stream is open. */
export type Credential =
  | { kind: 'session'; hash: SessionHash }
  | { kind: 'key'; id: ApiKeyId }
  | { kind: 'token'; token: TokenRef }
  /** None is needed until the API makes a key. */
  | { kind: 'keyless' };

type AccessConfig = Pick<Config, 'apiKeys' | 'adminKey' | 'allowedHosts' | 'secretKeys'>;

export type AccessControl = {
  /** Whether requests need a key. */
  auth(): Promise<'none' | 'key'>;
  /** Identifies the caller, or refuses the request. */
  admit(request: AccessRequest): Promise<Access>;
  /** For routes that need no key: refuses requests with a wrong `Host` or `Origin`. Null: allowed. */
  objection(request: AccessRequest): Refusal | null;
  /** Null: the key is unknown, or has ended. */
  whose(key: string): Promise<SignIn | null>;
  /** Ends the session of this browser, if it has one. */
  signOut(request: AccessRequest): Promise<void>;
  /**
   * Whether a credential is still valid, without any cache. A key or a session is not revoked before the transaction of
   * `executor` ends.
   */
  isValid(executor: Executor, credential: Credential | null): Promise<boolean>;
  /** This process has made a key. */
  made(): void;
  /** This process has ended a key that the API made. */
  ended(key: ApiKeyId): void;
  /** The token of a user that a key of the tenant makes. */
  issue(token: NewToken): Promise<IssuedToken | Refusal>;
  /** Calls `end` when the credential has ended. Returns a function that unregisters `end`. */
  whileValid(credential: Credential | null, end: () => void): () => void;
};

/** `begin` returns the value of the session cookie. */
type SignIn = { keyId: string; begin(): Promise<string> };

export function openAccessControl(
  { apiKeys, adminKey, allowedHosts, secretKeys }: AccessConfig,
  database: Database,
): AccessControl {
  const withKeys = keyAccess({ apiKeys, adminKey, secretKeys }, database);
  return isSecured({ apiKeys, adminKey }) ? withKeys : untilKeysAreMade(allowedHosts, withKeys, openKeyCheck(database));
}

/** Whether requests need a key from the start, even if the API has made none. */
export function isSecured({ apiKeys, adminKey }: Pick<AccessConfig, 'apiKeys' | 'adminKey'>): boolean {
  return apiKeys.length > 0 || adminKey !== null;
}

const NO_KEY = refuse('unauthorized', 'No API key was given. Send the header Authorization: Bearer <key>.');
const ELSEWHERE = refuse(
  'forbidden',
  'The request comes from a web page of another origin. Call the API from its own origin, or from a server.',
);

type KeyConfig = Pick<AccessConfig, 'apiKeys' | 'adminKey' | 'secretKeys'>;

function keyAccess({ apiKeys, adminKey, secretKeys }: KeyConfig, database: Database): AccessControl {
  const environment = openEnvironmentKeys(apiKeys);
  const { find, scopesOf } = environment;
  const isAdminKey = keyTest(adminKey);
  const tenantIds = createTenantIds(database);
  const made = openMadeKeys(database);
  const sessions = openSessions(database, scopesOf);
  const tokens = openTokens(database, secretKeys, environment);

  async function admitBearer(authorization: string): Promise<Access> {
    const given = bearerOf(authorization);
    if (given === null) return NO_KEY;
    if (isAdminKey(given)) return { kind: 'operator' };
    const ofEnvironment = find(given);
    if (ofEnvironment !== null) {
      const { tenant, scopes } = ofEnvironment;
      const key: KeyRef = { kind: 'env', id: keyId(given) };
      return toTenant({ tenantId: await tenantIds(tenant), tenantName: tenant, scopes, key }, null);
    }
    if (looksLikeToken(given)) {
      const found = await tokens.find(given);
      if (found === null) return INVALID_KEY;
      const { token, ...allowed } = found;
      const { tenantId, key } = token;
      return { ...toTenant({ ...allowed, tenantId, key }, { kind: 'token', token }), token };
    }
    const found = await made.find(given);
    if (found === null) return INVALID_KEY;
    return toTenant({ ...found, key: { kind: 'made', id: found.id } }, { kind: 'key', id: found.id });
  }

  async function signedInBy(key: string): Promise<SignedInBy | null> {
    const ofEnvironment = find(key);
    if (ofEnvironment !== null)
      return { tenantId: await tenantIds(ofEnvironment.tenant), key: { kind: 'env', id: keyId(key) } };
    const found = await made.find(key);
    return found === null ? null : { tenantId: found.tenantId, key: { kind: 'made', id: found.id } };
  }

  return {
    auth: async () => 'key',
    async admit(request) {
      const { headers, method } = request;
      if (headers.authorization !== undefined) return admitBearer(headers.authorization);
      const found = await sessions.find(tokenIn(request) ?? '');
      if (found === null) return NO_KEY;
      return isOfOwnPage(headers, method) ? toTenant(found, { kind: 'session', hash: found.session }) : ELSEWHERE;
    },
    objection: ({ headers, method }) => (changes(method) && crossOrigin(headers) ? ELSEWHERE : null),
    async whose(key) {
      const by = await signedInBy(key);
      return by === null ? null : { keyId: by.key.id, begin: () => sessions.begin(by) };
    },
    signOut: async (request) => sessions.end(tokenIn(request) ?? ''),
    async isValid(executor, credential) {
      if (credential?.kind === 'key') return holdKey(executor, credential.id);
      if (credential?.kind === 'session') return holdSession(executor, credential.hash);
      if (credential?.kind === 'token') return tokens.isValid(executor, credential.token);
      return true;
    },
    made: () => undefined,
    ended: (key) => made.ended(key),
    issue: (token) => tokens.issue(token),
    whileValid(credential, end) {
      if (credential?.kind === 'key') return made.whileValid(credential.id, end);
      if (credential?.kind === 'session') return sessions.whileOpen(credential.hash, end);
      if (credential?.kind === 'token') return tokens.whileValid(credential.token, end);
      return () => undefined;
    },
  };
}

type Found = Pick<Tenant, 'tenantId' | 'tenantName' | 'scopes' | 'key'>;

function toTenant({ tenantId, tenantName, scopes, key }: Found, credential: Credential | null): Tenant {
  return { kind: 'tenant', tenantId, tenantName, isOperator: false, scopes, credential, key, token: null };
}

/** An API without keys needs one as soon as it has made the first. */
function untilKeysAreMade(
  allowedHosts: readonly string[],
  withKeys: AccessControl,
  { areMade, untilMade, forget }: KeyCheck,
): AccessControl {
  const keyless = loopbackAccess(allowedHosts);
  const current = async (): Promise<AccessControl> => ((await areMade()) ? withKeys : keyless);
  const admit = async (request: AccessRequest): Promise<Access> => {
    // A key that the API made, or a token of one: there is one, although this process may not know it yet.
    const given = bearerOf(request.headers.authorization) ?? '';
    if (idInKey(given) !== null || looksLikeToken(given)) forget();
    return (await current()).admit(request);
  };
  return {
    auth: async () => (await current()).auth(),
    async admit(request) {
      // A page of another origin sends `Authorization` only if the operator lists its origin, and means a key then.
      const isMeant = request.headers.authorization !== undefined && (await areMade());
      const objection = isMeant ? hostRefusal(request.headers, allowedHosts) : keyless.objection(request);
      return objection ?? admit(request);
    },
    // It still listens on the loopback address only.
    objection: (request) => keyless.objection(request),
    whose: async (key) => (await current()).whose(key),
    signOut: async (request) => (await current()).signOut(request),
    isValid: async (executor, credential) =>
      credential?.kind === 'keyless' ? !(await hasKeys(executor)) : withKeys.isValid(executor, credential),
    made: forget,
    ended: (key) => withKeys.ended(key),
    issue: (token) => withKeys.issue(token),
    whileValid: (credential, end) =>
      credential?.kind === 'keyless' ? untilMade(end) : withKeys.whileValid(credential, end),
  };
}

/** The key in the header `Authorization`. */
function bearerOf(authorization: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null;
}

function hostRefusal({ host: given = '' }: AccessHeaders, allowedHosts: readonly string[]): Refusal | null {
  const host = hostnameOf(given);
  if (host !== null && (isLoopback(host) || allowedHosts.includes(host))) return null;
  return refuse(
    'forbidden',
    `The host ${JSON.stringify(given.slice(0, 100))} is not allowed. Add it to NIGHTSHIFT_ALLOWED_HOSTS, or set NIGHTSHIFT_API_KEYS or NIGHTSHIFT_ADMIN_KEY.`,
  );
}

function loopbackAccess(allowedHosts: readonly string[]): AccessControl {
  const objection = ({ headers }: AccessRequest): Refusal | null =>
    hostRefusal(headers, allowedHosts) ?? (isFromElsewhere(headers) ? ELSEWHERE : null);
  return {
    auth: async () => 'none',
    admit: async (request) =>
      objection(request) ?? {
        kind: 'tenant',
        tenantId: DEFAULT_TENANT,
        tenantName: DEFAULT_TENANT_NAME,
        isOperator: true,
        scopes: ALL_SCOPES,
        credential: { kind: 'keyless' },
        key: null,
        token: null,
      },
    objection,
    whose: async () => null,
    signOut: async () => undefined,
    isValid: async () => true,
    made: () => undefined,
    ended: () => undefined,
    issue: async () => NEEDS_KEY,
    whileValid: () => () => undefined,
  };
}

function changes(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/**
 * Whether a request with a cookie comes from a page of this origin. Pages of other origins cannot read the response, so
 * for a request that changes nothing the absence of cross-origin headers is enough.
 */
function isOfOwnPage(headers: AccessHeaders, method: string): boolean {
  const isGiven = headers.origin !== undefined || headers['sec-fetch-site'] === 'same-origin';
  return !crossOrigin(headers) && (isGiven || !changes(method));
}

/** Trusts `same-origin` without comparing `Host`: behind a proxy, `Host` may be an internal name. */
function crossOrigin(headers: AccessHeaders): boolean {
  return headers['sec-fetch-site'] !== 'same-origin' && isFromElsewhere(headers);
}

/** Whether the browser's headers name a page of another origin. */
function isFromElsewhere({ host, origin, 'sec-fetch-site': site }: AccessHeaders): boolean {
  if (site === 'cross-site' || site === 'same-site') return true;
  if (origin === undefined) return false;
  const url = URL.parse(origin);
  return url === null || url.host !== URL.parse(`${url.protocol}//${host ?? ''}`)?.host;
}

/** Lower-case, without the port; null for an invalid host. */
function hostnameOf(host: string): string | null {
  return /^[^/?#@\\\s]+$/.test(host) ? (URL.parse(`http://${host}`)?.hostname ?? null) : null;
}
