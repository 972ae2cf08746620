/**
 * Access control. With API keys, of the environment or made by the API, a request needs one or a session cookie, and
 * sees only the tenant of that key. The admin key sees the installation and no tenant. Without keys, every request from
 * this machine is allowed unless it comes from a web page of another origin. The `Host` check prevents DNS rebinding,
 * the `Origin` check cross-site requests. Browsers send cookies with requests of any page, so a request with a cookie
 * must come from a page of this origin.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiKey, Config } from '../../config/config.ts';
import { isLoopback } from '../../config/loopback.ts';
import { INVALID_KEY, idInKey } from '../../core/api-keys.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import { DEFAULT_TENANT, DEFAULT_TENANT_NAME, type ApiKeyId, type TenantId } from '../../core/ids.ts';
import { ALL_SCOPES, type Scopes } from '../../core/scopes.ts';
import type { AccessHeaders, AccessRequest } from './access-request.ts';
import { openKeyCheck, openMadeKeys, type KeyCheck, type MadeKey } from './made-keys.ts';
import { keyId, openSessions, tokenIn, type SessionHash, type SignedInBy } from './session.ts';
import { createTenantIds } from './tenants.ts';
import type { Database, Executor } from '../../db/connection/client.ts';
import { hasKeys, holdKey } from '../../db/write/api-keys.ts';
import { holdSession } from '../../db/write/sessions.ts';

/** Without keys, a caller is both the tenant and the operator. With keys, a caller is one of them. */
type Access = Tenant | Operator | Refusal;
type Tenant = {
  kind: 'tenant';
  tenantId: TenantId;
  tenantName: string;
  isOperator: boolean;
  scopes: Scopes;
  credential: Credential | null;
};
type Operator = { kind: 'operator' };

/** What may end while a stream is open. */
export type Credential =
  | { kind: 'session'; hash: SessionHash }
  | { kind: 'key'; id: ApiKeyId }
  /** None is needed until the API makes a key. */
  | { kind: 'keyless' };

type AccessConfig = Pick<Config, 'apiKeys' | 'adminKey' | 'allowedHosts'>;

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
   * Whether a credential is still valid, without any cache. It is not revoked before the transaction of `executor` ends.
   */
  isValid(executor: Executor, credential: Credential | null): Promise<boolean>;
  /** This process has made a key. */
  made(): void;
  /** This process has ended a key that the API made. */
  ended(key: ApiKeyId): void;
  /** Calls `end` when the credential has ended. Returns a function that unregisters `end`. */
  whileValid(credential: Credential | null, end: () => void): () => void;
};

/** `begin` returns the value of the session cookie. */
type SignIn = { keyId: string; begin(): Promise<string> };

export function openAccessControl(
  { apiKeys, adminKey, allowedHosts }: AccessConfig,
  database: Database,
): AccessControl {
  const withKeys = keyAccess(apiKeys, adminKey, database);
  return isSecured({ apiKeys, adminKey })
    ? withKeys
    : untilKeysAreMade(loopbackAccess(allowedHosts), withKeys, openKeyCheck(database));
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

function keyAccess(keys: readonly ApiKey[], adminKey: string | null, database: Database): AccessControl {
  const find = keyFinder(keys);
  const isAdminKey = keyTest(adminKey);
  const tenantIds = createTenantIds(database);
  const made = openMadeKeys(database);
  const sessions = openSessions(database, keys);

  async function admitBearer(authorization: string): Promise<Access> {
    const given = bearerOf(authorization);
    if (given === null) return NO_KEY;
    if (isAdminKey(given)) return { kind: 'operator' };
    const ofEnvironment = find(given);
    if (ofEnvironment !== null) {
      const { tenant, scopes } = ofEnvironment;
      const tenantId = await tenantIds(tenant);
      return { kind: 'tenant', tenantId, tenantName: tenant, isOperator: false, scopes, credential: null };
    }
    const found = await made.find(given);
    return found === null ? INVALID_KEY : toTenant(found, { kind: 'key', id: found.id });
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
      return true;
    },
    made: () => undefined,
    ended: (key) => made.ended(key),
    whileValid(credential, end) {
      if (credential?.kind === 'key') return made.whileValid(credential.id, end);
      if (credential?.kind === 'session') return sessions.whileOpen(credential.hash, end);
      return () => undefined;
    },
  };
}

function toTenant({ tenantId, tenantName, scopes }: Omit<MadeKey, 'id'>, credential: Credential): Tenant {
  return { kind: 'tenant', tenantId, tenantName, isOperator: false, scopes, credential };
}

/** An API without keys needs one as soon as it has made the first. */
function untilKeysAreMade(
  keyless: AccessControl,
  withKeys: AccessControl,
  { areMade, untilMade, forget }: KeyCheck,
): AccessControl {
  const current = async (): Promise<AccessControl> => ((await areMade()) ? withKeys : keyless);
  const admit = async (request: AccessRequest): Promise<Access> => {
    // A key that the API made: there is one, although this process may not know it yet.
    if (idInKey(bearerOf(request.headers.authorization) ?? '') !== null) forget();
    return (await current()).admit(request);
  };
  return {
    auth: async () => (await current()).auth(),
    admit: async (request) => keyless.objection(request) ?? admit(request),
    // It still listens on the loopback address only.
    objection: (request) => keyless.objection(request),
    whose: async (key) => (await current()).whose(key),
    signOut: async (request) => (await current()).signOut(request),
    isValid: async (executor, credential) =>
      credential?.kind === 'keyless' ? !(await hasKeys(executor)) : withKeys.isValid(executor, credential),
    made: forget,
    ended: (key) => withKeys.ended(key),
    whileValid: (credential, end) =>
      credential?.kind === 'keyless' ? untilMade(end) : withKeys.whileValid(credential, end),
  };
}

/** The key in the header `Authorization`. */
function bearerOf(authorization: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null;
}

/** Compares with every key, in constant time. */
function keyFinder(keys: readonly ApiKey[]): (key: string) => ApiKey | null {
  const known = keys.map((key) => ({ key, hash: hashOf(key.key) }));
  return (given) => {
    const hash = hashOf(given);
    const matching = known.filter((one) => timingSafeEqual(one.hash, hash));
    return matching[0]?.key ?? null;
  };
}

function keyTest(key: string | null): (key: string) => boolean {
  if (key === null) return () => false;
  const hash = hashOf(key);
  return (given) => timingSafeEqual(hash, hashOf(given));
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function loopbackAccess(allowedHosts: readonly string[]): AccessControl {
  const objection = ({ headers }: AccessRequest): Refusal | null => {
    const host = hostnameOf(headers.host ?? '');
    if (host === null || !(isLoopback(host) || allowedHosts.includes(host))) {
      return refuse(
        'forbidden',
        `The host ${JSON.stringify((headers.host ?? '').slice(0, 100))} is not allowed. Add it to NIGHTSHIFT_ALLOWED_HOSTS, or set NIGHTSHIFT_API_KEYS or NIGHTSHIFT_ADMIN_KEY.`,
      );
    }
    return isFromElsewhere(headers) ? ELSEWHERE : null;
  };
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
      },
    objection,
    whose: async () => null,
    signOut: async () => undefined,
    isValid: async () => true,
    made: () => undefined,
    ended: () => undefined,
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
