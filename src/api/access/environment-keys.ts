/** The keys of the environment: found by the key, or by what is stored of it. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiKey } from '../../config/access.ts';
import type { Scopes } from '../../core/access/scopes.ts';

export type EnvironmentKeys = {
  /** Compares with every key, in constant time. */
  find: (key: string) => ApiKey | null;
  /** Their ids (`keyId`). */
  ids: readonly string[];
  /** Of the key with this id, if it still exists and is still of this tenant. */
  scopesOf: (id: string, tenantName: string) => Scopes | undefined;
};

export function openEnvironmentKeys(keys: readonly ApiKey[]): EnvironmentKeys {
  const known = keys.map((key) => ({ key, hash: hashOf(key.key) }));
  const scopes = new Map(keys.map((key) => [`${keyId(key.key)} ${key.tenant}`, key.scopes]));
  return {
    ids: keys.map(({ key }) => keyId(key)),
    find(given) {
      const hash = hashOf(given);
      const matching = known.filter((one) => timingSafeEqual(one.hash, hash));
      return matching[0]?.key ?? null;
    },
    scopesOf: (id, tenantName) => scopes.get(`${id} ${tenantName}`),
  };
}

/**
 * Identifies a key of the environment. With it, guesses of a key can be tested: it is stored and shown to operators, and
 * is in no token.
 */
export function keyId(key: string): string {
  return createHash('sha256').update(`nightshift key: ${key}`).digest('base64url').slice(0, 10);
}

/** Identifies a grant to a group of the OpenID provider, as `keyId` a key, also after the provider has a new address. */
export function grantId(group: string): string {
  return `oidc:${createHash('sha256').update(`nightshift grant: ${group}`).digest('base64url').slice(0, 10)}`;
}

/** Whether a key is this one; without one, none is. */
export function keyTest(key: string | null): (key: string) => boolean {
  if (key === null) return () => false;
  const hash = hashOf(key);
  return (given) => timingSafeEqual(hash, hashOf(given));
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
