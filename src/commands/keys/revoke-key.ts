/** Ends an API key and the sessions that began with it. Safe to repeat. */
import { refuse } from '../../core/errors.ts';
import type { ApiKeyId, TenantId } from '../../core/ids.ts';
import { revokeKey as revoke } from '../../db/write/api-keys.ts';
import { done, type OneStatement } from '../perform.ts';

/** `revoked`: false if it had been before. Refused: `not_found`. */
export function revokeKey(tenantId: TenantId, id: ApiKeyId): OneStatement<{ revoked: boolean }> {
  return {
    async statement(executor) {
      const revoked = await revoke(executor, tenantId, id);
      return revoked === null ? refuse('not_found', `No API key has the id ${id}.`) : done({ revoked });
    },
  };
}
