/** Identifies a provider key without revealing it: the provider, its address, and a hash of both and the key. */
import { createHash } from 'node:crypto';
import type { ProviderName } from '../core/model/model.ts';

/** `address`: null for the provider's own. Secret parts of an address (user, query) appear only in the hash. */
export function keyId(provider: ProviderName, address: string | null, key: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([provider, address, key]))
    .digest('hex');
  return `${provider}@${placeOf(address)}#${hash.slice(0, 16)}`;
}

function placeOf(address: string | null): string {
  const url = address === null ? null : URL.parse(address);
  return url === null ? 'default' : `${url.host}${url.pathname.replace(/\/$/, '')}`;
}
