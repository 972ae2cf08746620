/**
 * Takes an approval in advance back.
 *
 * - Written: one statement, `approval_grants.remove`. A call that was already found to be free still runs.
 * - After the commit: nothing. The next call of the tool finds no grant.
 */
import { refuse } from '../../core/errors.ts';
import type { ContextId, TenantId } from '../../core/ids.ts';
import { removeGrants } from '../../db/calls/grants.ts';
import { done, type OneStatement } from '../perform.ts';

type Target = { tenantId: TenantId; contextId: ContextId };

/** Refused: `not_found`. */
export function removeGrant(target: Target, tool: string): OneStatement<object> {
  return {
    async statement(executor) {
      const removed = await removeGrants(executor, target, [tool]);
      if (removed > 0) return done({});
      return refuse('not_found', `Context ${target.contextId} has no grant for the tool ${tool}.`);
    },
  };
}
