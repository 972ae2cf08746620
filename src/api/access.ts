/**
 * Who may ask. With keys: whoever bears one, or the cookie of a browser that gave one, and sees its tenant only; the admin
 * key sees the installation and no tenant. Without any: whoever is on this machine and is not a web page of somewhere else; DNS rebinding is met by the Host, cross-site requests
 * by the Origin. A cookie is the browser's to send, not the page's: so its requests must be of a page of ours.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { ApiKey, Config } from '../config/config.ts';
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import { DEFAULT_TENANT } from '../core/ids.ts';
import type { TenantId } from '../core/ids.ts';
import type { AccessHeaders, Asked } from './asked.ts';
import { keyId, openSessions, tokenIn } from './session.ts';
import type { SessionHash } from './session.ts';
import type { Database } from '../db/client.ts';

/** Without keys, one caller is the tenant and the operator. With keys, nobody is both. */
export type Access = Tenant | Operator | Refusal;
/** `session`: of the browser that asks; null: it is not signed in, and needs not be. */
type Tenant = { kind: 'tenant'; tenantId: TenantId; isOperator: boolean; session: SessionHash | null };
type Operator = { kind: 'operator' };

export type AccessConfig = Pick<Config, 'apiKeys' | 'adminKey' | 'allowedHosts'>;

export type AccessControl = {
  auth: 'none' | 'key';
  /** Who asks, and whether they may. */
  admit(asked: Asked): Promise<Access>;
  /** Of what needs no key: whether even so it may not be asked for like this. */
  objection(asked: Asked): Refusal | null;
  /** Null: the key is unknown. */
  whose(key: string): SignIn | null;
  /** The session of this browser, where it has one, is over. */
  signOut(asked: Asked): Promise<void>;
  /** `end` is called when the session has ended. Returns what is to be called when that does not matter any more. */
  whileSignedIn(session: SessionHash | null, end: () => void): () => void;
};

/** `begin` gives what the cookie of the browser is to hold. */
export type SignIn = { keyId: string; begin(): Promise<string> };

export function openAccessControl(
  { apiKeys, adminKey, allowedHosts }: AccessConfig,
  database: Database,
): AccessControl {
  return isSecured({ apiKeys, adminKey })
    ? keyAccess(apiKeys, adminKey, database)
    : loopbackAccess(allowedHosts);
}

/** Whether requests need a key. */
export function isSecured({ apiKeys, adminKey }: Pick<AccessConfig, 'apiKeys' | 'adminKey'>): boolean {
  return apiKeys.length > 0 || adminKey !== null;
}

const ELSEWHERE = 'A web page of another origin may not drive this API.';

function keyAccess(keys: readonly ApiKey[], adminKey: string | null, database: Database): AccessControl {
  const find = keyFinder(keys);
  const isAdminKey = keyTest(adminKey);
  const sessions = openSessions(database, keys);
  return {
    auth: 'key',
    async admit(asked) {
      const { headers, method } = asked;
      if (headers.authorization !== undefined) return admitBearer(headers.authorization, find, isAdminKey);
      const found = await sessions.find(tokenIn(asked) ?? '');
      if (found === null) return refuse('unauthorized', 'Authorization: Bearer <key> is needed.');
      return isOfOwnPage(headers, method)
        ? { kind: 'tenant', ...found, isOperator: false }
        : refuse('forbidden', ELSEWHERE);
    },
    objection: ({ headers, method }) =>
      changes(method) && crossOrigin(headers) ? refuse('forbidden', ELSEWHERE) : null,
    whose(key) {
      const found = find(key);
      return found === null ? null : { keyId: keyId(key), begin: () => sessions.begin(found) };
    },
    signOut: async (asked) => sessions.end(tokenIn(asked) ?? ''),
    whileSignedIn: (session, end) => (session === null ? () => undefined : sessions.whileOpen(session, end)),
  };
}

function admitBearer(
  authorization: string,
  find: (key: string) => ApiKey | null,
  isAdminKey: (key: string) => boolean,
): Access {
  const [, given] = /^bearer +(\S+) *$/i.exec(authorization) ?? [];
  if (given === undefined) return refuse('unauthorized', 'Authorization: Bearer <key> is needed.');
  if (isAdminKey(given)) return { kind: 'operator' };
  const found = find(given);
  return found === null
    ? refuse('unauthorized', 'This key is not known here.')
    : { kind: 'tenant', tenantId: found.tenant, isOperator: false, session: null };
}

/** Every key is compared, in constant time. */
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
  const objection = ({ headers }: Asked): Refusal | null => {
    const host = hostnameOf(headers.host ?? '');
    if (host === null || !(isLoopback(host) || allowedHosts.includes(host))) {
      return refuse(
        'forbidden',
        'This Host is not allowed: see NIGHTSHIFT_ALLOWED_HOSTS and NIGHTSHIFT_API_KEYS.',
      );
    }
    return isFromElsewhere(headers) ? refuse('forbidden', ELSEWHERE) : null;
  };
  return {
    auth: 'none',
    admit: async (asked) =>
      objection(asked) ?? { kind: 'tenant', tenantId: DEFAULT_TENANT, isOperator: true, session: null },
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
 * Whether a request that a browser sent its cookie with is of a page of ours. Other pages cannot read an answer: so where
 * nothing is changed it is enough that the browser does not say that one of them asks.
 */
function isOfOwnPage(headers: AccessHeaders, method: string): boolean {
  const isGiven = headers.origin !== undefined || headers['sec-fetch-site'] === 'same-origin';
  return !crossOrigin(headers) && (isGiven || !changes(method));
}

/** `same-origin` needs no second look: behind a proxy, Host may be a name that no browser knows. */
function crossOrigin(headers: AccessHeaders): boolean {
  return headers['sec-fetch-site'] !== 'same-origin' && isFromElsewhere(headers);
}

/** Whether a browser says that a page of another origin asks. */
function isFromElsewhere({ host, origin, 'sec-fetch-site': site }: AccessHeaders): boolean {
  if (site === 'cross-site' || site === 'same-site') return true;
  if (origin === undefined) return false;
  const url = URL.parse(origin);
  return url === null || url.host !== URL.parse(`${url.protocol}//${host ?? ''}`)?.host;
}

/** Lower-case, without the port; null for what is no host. */
function hostnameOf(host: string): string | null {
  return /^[^/?#@\\\s]+$/.test(host) ? (URL.parse(`http://${host}`)?.hostname ?? null) : null;
}

/** Whether a host name or address means this machine. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  switch (isIP(name)) {
    case 4:
      return name.startsWith('127.');
    case 6:
      return name === '::1' || name.startsWith('::ffff:7f') || name.startsWith('::ffff:127.');
    default:
      return name === 'localhost' || name.endsWith('.localhost');
  }
}
