/**
 * Access control. With API keys, a request needs a key or a session cookie, and sees only the tenant of that key. The
 * admin key sees the installation and no tenant. Without keys, every request from this machine is allowed unless it
 * comes from a web page of another origin. The `Host` check prevents DNS rebinding, the `Origin` check cross-site
 * requests. Browsers send cookies with requests of any page, so a request with a cookie must come from a page of this
 * origin.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiKey, Config } from '../../config/config.ts';
import { isLoopback } from '../../config/loopback.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import { DEFAULT_TENANT, DEFAULT_TENANT_NAME, type TenantId } from '../../core/ids.ts';
import { ALL_SCOPES, type Scopes } from '../../core/scopes.ts';
import type { AccessHeaders, AccessRequest } from './access-request.ts';
import { keyId, openSessions, tokenIn, type SessionHash } from './session.ts';
import { createTenantIds, type TenantIds } from './tenants.ts';
import type { Database } from '../../db/connection/client.ts';

/** Without keys, a caller is both the tenant and the operator. With keys, a caller is one of them. */
type Access = Tenant | Operator | Refusal;
/** `session` of a signed-in browser; null for a request with a key, or if no key is needed. */
type Tenant = {
  kind: 'tenant';
  tenantId: TenantId;
  tenantName: string;
  isOperator: boolean;
  session: SessionHash | null;
  scopes: Scopes;
};
type Operator = { kind: 'operator' };

type AccessConfig = Pick<Config, 'apiKeys' | 'adminKey' | 'allowedHosts'>;

export type AccessControl = {
  auth: 'none' | 'key';
  /** Identifies the caller, or refuses the request. */
  admit(request: AccessRequest): Promise<Access>;
  /** For routes that need no key: refuses requests with a wrong `Host` or `Origin`. Null: allowed. */
  objection(request: AccessRequest): Refusal | null;
  /** Null: the key is unknown. */
  whose(key: string): SignIn | null;
  /** Ends the session of this browser, if it has one. */
  signOut(request: AccessRequest): Promise<void>;
  /** Calls `end` when the session has ended. Returns a function that unregisters `end`. */
  whileSignedIn(session: SessionHash | null, end: () => void): () => void;
};

/** `begin` returns the value of the session cookie. */
type SignIn = { keyId: string; begin(): Promise<string> };

export function openAccessControl(
  { apiKeys, adminKey, allowedHosts }: AccessConfig,
  database: Database,
): AccessControl {
  return isSecured({ apiKeys, adminKey }) ? keyAccess(apiKeys, adminKey, database) : loopbackAccess(allowedHosts);
}

/** Whether requests need an API key. */
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
  const sessions = openSessions(database, keys, tenantIds);
  return {
    auth: 'key',
    async admit(request) {
      const { headers, method } = request;
      if (headers.authorization !== undefined) return admitBearer(headers.authorization, find, isAdminKey, tenantIds);
      const found = await sessions.find(tokenIn(request) ?? '');
      if (found === null) return NO_KEY;
      return isOfOwnPage(headers, method) ? { kind: 'tenant', ...found, isOperator: false } : ELSEWHERE;
    },
    objection: ({ headers, method }) => (changes(method) && crossOrigin(headers) ? ELSEWHERE : null),
    whose(key) {
      const found = find(key);
      return found === null ? null : { keyId: keyId(key), begin: () => sessions.begin(found) };
    },
    signOut: async (request) => sessions.end(tokenIn(request) ?? ''),
    whileSignedIn: (session, end) => (session === null ? () => undefined : sessions.whileOpen(session, end)),
  };
}

async function admitBearer(
  authorization: string,
  find: (key: string) => ApiKey | null,
  isAdminKey: (key: string) => boolean,
  tenantIds: TenantIds,
): Promise<Access> {
  const [, given] = /^bearer +(\S+) *$/i.exec(authorization) ?? [];
  if (given === undefined) return NO_KEY;
  if (isAdminKey(given)) return { kind: 'operator' };
  const found = find(given);
  if (found === null)
    return refuse(
      'unauthorized',
      'The API key is not valid. Use one of the keys in NIGHTSHIFT_API_KEYS, or NIGHTSHIFT_ADMIN_KEY.',
    );
  const tenantId = await tenantIds(found.tenant);
  return { kind: 'tenant', tenantId, tenantName: found.tenant, isOperator: false, session: null, scopes: found.scopes };
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
        `The host ${JSON.stringify((headers.host ?? '').slice(0, 100))} is not allowed without API keys. Add it to NIGHTSHIFT_ALLOWED_HOSTS, or set NIGHTSHIFT_API_KEYS.`,
      );
    }
    return isFromElsewhere(headers) ? ELSEWHERE : null;
  };
  return {
    auth: 'none',
    admit: async (request) =>
      objection(request) ?? {
        kind: 'tenant',
        tenantId: DEFAULT_TENANT,
        tenantName: DEFAULT_TENANT_NAME,
        isOperator: true,
        session: null,
        scopes: ALL_SCOPES,
      },
    objection,
    whose: () => null,
    signOut: async () => undefined,
    whileSignedIn: () => () => undefined,
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
