/**
 * Callers that a service identifies which embeds the API in its own process: instead of a key, the service names the
 * tenant, the scopes and the user.
 */
import { ALL_SCOPES, type Scopes } from '../../core/access/scopes.ts';
import { TOKEN_SCOPES, type Token } from '../../core/access/tokens.ts';
import type { User } from '../../core/access/user.ts';
import type { TenantId } from '../../core/ids.ts';
import type { AccessRequest } from '../access/access-request.ts';
import type { EnvironmentKeys } from '../access/environment-keys.ts';

/**
 * The ids of these callers where others have that of a key, in the audit log and in the tokens that they make: calls
 * within the process, and requests for which the service's `authenticate` answered.
 */
const EMBEDDED_IDS = ['in_process', 'authenticate'] as const;
export type EmbeddedId = (typeof EMBEDDED_IDS)[number];

/** `user`: the caller sees and makes only contexts of this user, as with a token; null: the whole tenant. */
export type EmbeddedCaller = { id: EmbeddedId; tenant: string; scopes: Scopes; user: User | null };

export type Embedded = {
  /** Null: the service does not know the caller, who then needs a key. May throw `RequestRefused`. */
  callerOf: (request: AccessRequest) => Promise<EmbeddedCaller | null>;
};

/** What limits a caller with a user. It is never signed, and not stored. */
export function tokenOfCaller({ id, scopes, user }: EmbeddedCaller & { user: User }, tenantId: TenantId): Token {
  return {
    id,
    tenantId,
    user,
    key: { kind: 'env', id },
    scopes: TOKEN_SCOPES.filter((scope) => scopes.has(scope)),
    contextIds: null,
    metadata: {},
    issuedAt: 0,
    expiresAt: Infinity,
  };
}

/** The keys of the environment, and the ids of embedded callers as others: tokens that these make stay valid. */
export function withEmbedded(keys: EnvironmentKeys): EnvironmentKeys {
  const isEmbedded = (id: string): boolean => EMBEDDED_IDS.some((one) => one === id);
  return {
    find: (key) => keys.find(key),
    ids: [...keys.ids, ...EMBEDDED_IDS],
    scopesOf: (id, tenantName) => (isEmbedded(id) ? ALL_SCOPES : keys.scopesOf(id, tenantName)),
  };
}
