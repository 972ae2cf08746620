/** Ends an API key and the sessions that began with it. Safe to repeat. */
import { refuse } from '../../core/errors.ts';
import type { ApiKeyId, TenantId } from '../../core/ids.ts';
import { revokeKey as revoke } from '../../db/write/api-keys.ts';
import { done, type OneStatement } from '../perform.ts';

/** Refused: `not_found`. */
export function revokeKey(tenantId: TenantId, id: ApiKeyId): OneStatement<Record<string, never>> {
  return {
    async statement(executor) {
      return (await revoke(executor, tenantId, id)) ? done({}) : refuse('not_found', `No API key has the id ${id}.`);
    },
  };
}
