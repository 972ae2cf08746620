/** API keys as the API shows them. */
import { keyPrefix, type ApiKeyView } from '../../../core/access/api-keys.ts';
import { toIso, toIsoOrNull } from '../../request/instant.ts';
import type { ApiKey } from '../../schemas/system/api-key.ts';

export function toApiKey({ id, name, scopes, limits, ...times }: ApiKeyView): ApiKey {
  return {
    id,
    name,
    prefix: keyPrefix(id),
    scopes: [...scopes],
    limits: {
      requests_per_s: limits.requests_per_s ?? null,
      concurrent_requests: limits.concurrent_requests ?? null,
    },
    created_at: toIso(times.createdAt),
    expires_at: toIsoOrNull(times.expiresAt),
    last_used_at: toIsoOrNull(times.lastUsedAt),
    revoked_at: toIsoOrNull(times.revokedAt),
    replaces: times.replaces,
  };
}
