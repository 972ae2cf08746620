/** Imports a conversation as a new context: completely, in one transaction, or not at all. */
import type { ContextId, TenantId } from '../../core/ids.ts';
import { fillContext, type Filling } from '../../db/write/contexts/import.ts';
import { performWithin, type AnyCommand, type Command } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';

/**
 * `create` creates the worker and its context. `filling` is already validated, and written unchanged.
 */
export function importContext<Made extends { contextId: ContextId }>(
  { ids }: Pick<CommandPorts, 'ids'>,
  tenantId: TenantId,
  create: AnyCommand<Made>,
  filling: Filling,
): Command<Made> {
  return async (tx) => {
    const outcome = await performWithin(tx, create);
    if (outcome.kind === 'done') await fillContext(tx, ids, { tenantId, contextId: outcome.value.contextId }, filling);
    return outcome;
  };
}
