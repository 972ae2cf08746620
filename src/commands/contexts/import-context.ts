/** Imports a conversation as a new context: completely, in one transaction, or not at all. */
import type { ContextId, TenantId, WorkerId } from '../../core/ids.ts';
import { fillContext, type Filling } from '../../db/write/contexts/import.ts';
import type { Command } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';

type Made = { workerId: WorkerId; contextId: ContextId };

/**
 * `create` creates the worker and its context. `filling` is already validated, and written unchanged.
 */
export function importContext(
  { ids }: Pick<CommandPorts, 'ids'>,
  tenantId: TenantId,
  create: Command<Made>,
  filling: Filling,
): Command<Made> {
  return async (tx) => {
    const outcome = await create(tx);
    if (outcome.kind === 'done') await fillContext(tx, ids, { tenantId, contextId: outcome.value.contextId }, filling);
    return outcome;
  };
}
