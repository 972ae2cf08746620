/** Identifies a provider key, and what is throttled with it, without revealing the key. */
import { createHash } from 'node:crypto';
import type { TenantId } from '../core/ids.ts';
import type { ModelName, ProviderName } from '../core/model/model.ts';

/**
 * The provider, its address, and a hash of both and the key. `address`: null for the provider's own. Secret parts of an
 * address (user, query) appear only in the hash.
 */
export function keyId(provider: ProviderName, address: string | null, key: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([provider, address, key]))
    .digest('hex');
  return `${provider}@${placeOf(address)}#${hash.slice(0, 16)}`;
}

/**
 * The id of the throttles of a model with a key. The simulated models fail as their inputs demand, so each tenant has one
 * for all of them.
 */
export function throttleId(keyOf: string, { provider, model }: ModelName, tenantId: TenantId): string {
  const of = provider === 'simulated' ? [keyOf, tenantId] : [keyOf, model];
  return createHash('sha256').update(JSON.stringify(of)).digest('hex').slice(0, 32);
}

function placeOf(address: string | null): string {
  const url = address === null ? null : URL.parse(address);
  return url === null ? 'default' : `${url.host}${url.pathname.replace(/\/$/, '')}`;
}
