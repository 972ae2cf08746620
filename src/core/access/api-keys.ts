/** API keys that the API makes, `nsk_<id>_<secret>`. The database stores only a hash of the whole key. */
import { refuse } from '../errors.ts';
import { parseId, type ApiKeyId, type TenantId } from '../ids.ts';
import type { KeyLimits } from './quotas.ts';
import type { Scope } from './scopes.ts';
import type { Millis } from '../time.ts';

/** A key without its secret. `env`: of the environment, by a hash. */
export type KeyRef = { kind: 'env'; id: string } | { kind: 'made'; id: ApiKeyId };

/** What the API shows of a key. */
export type ApiKeyView = {
  id: ApiKeyId;
  name: string;
  scopes: readonly Scope[];
  limits: KeyLimits;
  createdAt: Millis;
  expiresAt: Millis | null;
  /** Exact to a minute. */
  lastUsedAt: Millis | null;
  revokedAt: Millis | null;
  /** The key whose rotation made this one. */
  replaces: ApiKeyId | null;
};

export type NewApiKey = Pick<ApiKeyView, 'id' | 'name' | 'scopes' | 'limits' | 'replaces'> & {
  tenantId: TenantId;
  hash: string;
  /** The operator made it: until it is used, it may have been lost. */
  isByOperator: boolean;
  /** How long it is valid, in milliseconds; null: without an end. */
  lifetimeMs: Millis | null;
  /** Null: it ends after its lifetime. */
  expiresAt: Millis | null;
};

/** The longest time for which a key with an end may be valid, in milliseconds: ten years. */
export const LONGEST_LIFE_MS = 10 * 365 * 86_400_000;

/** Keys of a tenant that are neither revoked nor expired, at most. */
export const MOST_KEYS = 1_000;

/** The refusal of a key that is not, or no longer, valid. It does not tell which. */
export const INVALID_KEY = refuse(
  'unauthorized',
  'The API key or token is not valid: it is unknown, revoked or expired.',
);

/** The part of a key that is no secret. */
export function keyPrefix(id: ApiKeyId): string {
  return `nsk_${id.replaceAll('-', '')}`;
}

/** Null: the text is no key that the API made. */
export function idInKey(key: string): ApiKeyId | null {
  const [, a, b, c, d, e] =
    /^nsk_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_[\w-]{43}$/.exec(key) ?? [];
  return a === undefined ? null : parseId<ApiKeyId>(`${a}-${b}-${c}-${d}-${e}`);
}
