/**
 * Access control. With API keys, of the environment or made by the API, a request needs one, a token that a key made,
 * or a session cookie, of a key or of a user of the OpenID provider, and sees only one tenant. The admin key sees the
 * installation and no tenant. Without keys, every request from this machine is allowed unless it comes from a web page
 * of another origin. The `Host` check prevents DNS rebinding, the `Origin` check cross-site requests. Browsers send
 * cookies with requests of any page, so a request with a cookie must come from a page of this origin.
 */
import type { Config } from '../../config/config.ts';
import { isSecured } from '../../config/secured.ts';
import { ELSEWHERE, changes, crossOrigin, hostRefusal, isFromElsewhere, isOfOwnPage } from './page-origin.ts';
import { INVALID_KEY, idInKey, type KeyRef } from '../../core/access/api-keys.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import { DEFAULT_TENANT, DEFAULT_TENANT_NAME, type ApiKeyId, type TenantId } from '../../core/ids.ts';
import { ALL_SCOPES, type Scopes } from '../../core/access/scopes.ts';
import { NO_LIMITS, type KeyLimits } from '../../core/access/quotas.ts';
import { TENANT_SUSPENDED } from '../../core/access/tenant.ts';
import { scopesOfUser } from '../../core/access/oidc.ts';
import type { Token } from '../../core/access/tokens.ts';
import type { User } from '../../core/access/user.ts';
import { bearerOf, type AccessRequest } from './access-request.ts';
import { keyId, keyTest, openEnvironmentKeys, type EnvironmentKeys } from './environment-keys.ts';
import { openKeyCheck, openMadeKeys, type KeyCheck } from './made-keys.ts';
import {
  openSessions,
  sessionIn,
  tokenIn,
  type BegunSession,
  type Entered,
  type Entry,
  type RecordSession,
  type SessionHash,
} from './session.ts';
import { NEEDS_KEY, looksLikeToken, openTokens, type IssuedToken, type NewToken } from './tokens.ts';
import { openTenants } from './tenants.ts';
import type { DatabaseAccess, Executor } from '../../db/connection/client.ts';
import { hasKeys, holdKey } from '../../db/write/api-keys.ts';
import { holdSession, type SignedInBy, type SignedInUser } from '../../db/write/sessions.ts';
import type { CredentialTenant } from '../../db/write/tenants/tenants.ts';
import type { TokenRef } from '../../db/write/tokens.ts';

/** Without keys, a caller is both the tenant and the operator. With keys, a caller is one of them. */
export type Access = Tenant | Operator | MetricsReader | Refusal;
export type Tenant = Omit<CredentialTenant, 'tenantStatus'> & {
  kind: 'tenant';
  isOperator: boolean;
  scopes: Scopes;
  /** Of its key, beside those. A key that makes tokens has none. */
  keyLimits: KeyLimits;
  credential: Credential | null;
  /** The key that gives access, itself or by what it made; null: none is needed, or it is the session of a user. */
  key: KeyRef | null;
  /** Proved by a token, or by the sign-in of its session. */
  user: User | null;
  /** Limits access to contexts of one user; null: the whole tenant. */
  token: Token | null;
};
/** `credential`: its session; null: the admin key itself. */
type Operator = { kind: 'operator'; credential: Credential | null };

/** The key for metrics. */
type MetricsReader = { kind: 'metrics'; credential: null };

/** What may end while a stream is open. */
export type Credential =
  | { kind: 'session'; hash: SessionHash }
  | { kind: 'key'; id: ApiKeyId }
  | { kind: 'token'; token: TokenRef }
  /** A key of the environment, or a caller that a service identified: valid while its tenant is active. */
  | { kind: 'environment'; tenantId: TenantId }
  /** None is needed until the API makes a key. */
  | { kind: 'keyless' };

export type AccessConfig = Pick<
  Config,
  'apiKeys' | 'adminKey' | 'metricsKey' | 'allowedHosts' | 'secretKeys' | 'oidc' | 'oidcSettings'
>;

export type AccessControl = CallerControl & {
  /** Starts the session of a user of the OpenID provider, and ends the one that it replaces. */
  enter(by: SignedInUser, record: RecordSession, entry: Entry): Promise<Entered>;
};

type CallerControl = {
  /** Whether requests need a key. */
  auth(): Promise<'none' | 'key'>;
  /** Identifies the caller, or refuses the request. */
  admit(request: AccessRequest): Promise<Access>;
  /** For routes that need no key: refuses requests with a wrong `Host` or `Origin`. Null: allowed. */
  objection(request: AccessRequest): Refusal | null;
  /** Refused: the key is unknown, or has ended, or its tenant is not active. */
  whose(key: string): Promise<SignIn | Refusal>;
  /** Ends the session of this browser, if it has one. */
  signOut(request: AccessRequest, record: RecordSession): Promise<void>;
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

/** `begin` returns null if the tenant is no longer active. */
type SignIn = { kind: 'sign_in'; keyId: string; begin(record: RecordSession): Promise<BegunSession | null> };

export function openAccessControl(config: AccessConfig, database: DatabaseAccess): AccessControl {
  const withKeys = keyAccess(config, database, openEnvironmentKeys(config.apiKeys));
  return isSecured(config) ? withKeys : untilKeysAreMade(config.allowedHosts, withKeys, openKeyCheck(database));
}

const NO_KEY = refuse('unauthorized', 'No API key was given. Send the header Authorization: Bearer <key>.');

/** Every request needs a key, or what a key made. */
export function keyAccess(
  { adminKey, metricsKey, secretKeys, oidc, oidcSettings }: AccessConfig,
  database: DatabaseAccess,
  environment: EnvironmentKeys,
): AccessControl {
  const { find, scopesOf } = environment;
  const isAdminKey = keyTest(adminKey);
  const isMetricsKey = keyTest(metricsKey);
  const tenants = openTenants(database);
  const made = openMadeKeys(database);
  const sessions = openSessions(database, {
    adminKeyId: adminKey === null ? null : keyId(adminKey),
    ofEnvironmentKey: scopesOf,
    ofUser: (owner, tenant) => scopesOfUser(oidc?.issuer ?? null, oidcSettings.grants, owner, tenant),
  });
  const tokens = openTokens(database, secretKeys, environment);

  async function admitBearer(authorization: string): Promise<Access> {
    const given = bearerOf(authorization);
    return given === null ? NO_KEY : admitKey(given);
  }

  async function admitKey(given: string): Promise<Access> {
    if (isAdminKey(given)) return { kind: 'operator', credential: null };
    if (isMetricsKey(given)) return { kind: 'metrics', credential: null };
    const ofEnvironment = find(given);
    if (ofEnvironment !== null) {
      const { tenant, scopes } = ofEnvironment;
      const key: KeyRef = { kind: 'env', id: keyId(given) };
      const found = await tenants.find({ tenant, keyId: key.id });
      if (found === null) return INVALID_KEY;
      return toTenant({ ...found, scopes, key }, { kind: 'environment', tenantId: found.tenantId });
    }
    if (looksLikeToken(given)) {
      const found = await tokens.find(given);
      if (found === null) return INVALID_KEY;
      const { token, ...allowed } = found;
      const access = toTenant({ ...allowed, key: token.key }, { kind: 'token', token });
      return access.kind === 'tenant' ? { ...access, token, user: token.user } : access;
    }
    const found = await made.find(given);
    if (found === null) return INVALID_KEY;
    return toTenant({ ...found, key: { kind: 'made', id: found.id } }, { kind: 'key', id: found.id });
  }

  async function signInWith(key: string): Promise<SignIn | Refusal> {
    const signIn = (id: string, by: SignedInBy): SignIn => ({
      kind: 'sign_in',
      keyId: id,
      begin: (record) => sessions.begin(by, record),
    });
    const access = await admitKey(key);
    if (access.kind === 'refused') return access;
    if (access.kind === 'metrics') return INVALID_KEY;
    if (access.kind === 'operator') return signIn(keyId(key), { kind: 'operator', keyId: keyId(key) });
    const { tenantId, token, key: owner } = access;
    // A token does not sign a browser in.
    if (token !== null || owner === null) return INVALID_KEY;
    return signIn(owner.id, { kind: 'tenant', tenantId, owner: { kind: 'key', key: owner } });
  }

  return {
    auth: async () => 'key',
    async admit(request) {
      const { headers, method } = request;
      if (headers.authorization !== undefined) return admitBearer(headers.authorization);
      const found = await sessions.find(tokenIn(request) ?? '');
      if (found === null) return NO_KEY;
      if (!isOfOwnPage(headers, method)) return ELSEWHERE;
      const credential = { kind: 'session', hash: found.session } as const;
      return found.kind === 'operator' ? { kind: 'operator', credential } : toTenant(found, credential);
    },
    objection: ({ headers, method }) => (changes(method) && crossOrigin(headers) ? ELSEWHERE : null),
    whose: signInWith,
    enter: (by, record, entry) => sessions.enter(by, record, entry),
    async signOut(request, record) {
      const session = sessionIn(request);
      if (session !== null) await sessions.end(session, record);
    },
    async isValid(executor, credential) {
      if (credential?.kind === 'key') return holdKey(executor, credential.id);
      if (credential?.kind === 'session') return holdSession(executor, credential.hash);
      if (credential?.kind === 'token') return tokens.isValid(executor, credential.token);
      if (credential?.kind === 'environment') return tenants.isActive(executor, credential.tenantId);
      return true;
    },
    made: () => undefined,
    ended: (key) => made.ended(key),
    issue: (token) => tokens.issue(token),
    whileValid(credential, end) {
      if (credential?.kind === 'key') return made.whileValid(credential.id, end);
      if (credential?.kind === 'session') return sessions.whileOpen(credential.hash, end);
      if (credential?.kind === 'token') return tokens.whileValid(credential.token, end);
      if (credential?.kind === 'environment') return tenants.whileActive(credential.tenantId, end);
      return () => undefined;
    },
  };
}

type Found = CredentialTenant & Pick<Tenant, 'scopes' | 'key'> & Partial<Pick<Tenant, 'keyLimits' | 'user'>>;

export function toTenant(found: Found, credential: Credential): Tenant | Refusal {
  const { tenantStatus } = found;
  if (tenantStatus === 'suspended') return TENANT_SUSPENDED;
  if (tenantStatus === 'deleting') return INVALID_KEY;
  const { tenantId, tenantName, scopes, allow, limits, keyLimits = NO_LIMITS, key, user = null } = found;
  const tenant = { tenantId, tenantName, scopes, allow, limits, keyLimits, key, user, credential };
  return { kind: 'tenant', ...tenant, isOperator: false, token: null };
}

/** An API without keys needs one as soon as it has made the first. */
function untilKeysAreMade(
  allowedHosts: readonly string[],
  withKeys: AccessControl,
  { areMade, tenant, untilMade, forget }: KeyCheck,
): AccessControl {
  const keyless = loopbackAccess(allowedHosts, tenant);
  const current = async (): Promise<CallerControl> => ((await areMade()) ? withKeys : keyless);
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
    enter: (by, record, entry) => withKeys.enter(by, record, entry),
    signOut: async (request, record) => (await current()).signOut(request, record),
    isValid: async (executor, credential) =>
      credential?.kind === 'keyless' ? !(await hasKeys(executor)) : withKeys.isValid(executor, credential),
    made: forget,
    ended: (key) => withKeys.ended(key),
    issue: (token) => withKeys.issue(token),
    whileValid: (credential, end) =>
      credential?.kind === 'keyless' ? untilMade(end) : withKeys.whileValid(credential, end),
  };
}

function loopbackAccess(allowedHosts: readonly string[], tenant: KeyCheck['tenant']): CallerControl {
  const objection = ({ headers }: AccessRequest): Refusal | null =>
    hostRefusal(headers, allowedHosts) ?? (isFromElsewhere(headers) ? ELSEWHERE : null);
  return {
    auth: async () => 'none',
    async admit(request) {
      const refusal = objection(request);
      if (refusal !== null) return refusal;
      const { allow, limits } = await tenant();
      return {
        kind: 'tenant',
        tenantId: DEFAULT_TENANT,
        tenantName: DEFAULT_TENANT_NAME,
        isOperator: true,
        scopes: ALL_SCOPES,
        allow,
        limits,
        keyLimits: NO_LIMITS,
        credential: { kind: 'keyless' },
        key: null,
        user: null,
        token: null,
      };
    },
    objection,
    whose: async () => INVALID_KEY,
    signOut: async () => undefined,
    isValid: async () => true,
    made: () => undefined,
    ended: () => undefined,
    issue: async () => NEEDS_KEY,
    whileValid: () => () => undefined,
  };
}
