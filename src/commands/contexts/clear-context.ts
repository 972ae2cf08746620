/** Clears the history of a context. Its messages stay stored and in the stream, but are no longer history. */
import { refuse } from '../../core/errors.ts';
import type { ContextId, TenantId } from '../../core/ids.ts';
import { clear, lookBeforeClear } from '../../db/write/contexts/clear.ts';
import { lockForControl } from '../../db/run/stop-requests.ts';
import { noContext } from '../inputs/refusals.ts';
import { progressTo } from '../after-commit.ts';
import { done, type Command } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';

type ClearContext = {
  tenantId: TenantId;
  contextId: ContextId;
  /** Whether the stored version of the settings is the one that the client meant. */
  isCurrent: (version: number) => boolean;
};

/**
 * Refused: `not_found`, `version_conflict`, and `context_busy` while a job is unfinished: a queued
 * job was accepted to be answered with the current history.
 */
export function clearContext(
  { times }: Pick<CommandPorts, 'times'>,
  { tenantId, contextId, isCurrent }: ClearContext,
): Command<{ contextId: ContextId }> {
  return async (tx) => {
    const called = await lockForControl(tx, tenantId, contextId, times);
    const found = called === null ? null : await lookBeforeClear(tx, tenantId, contextId);
    if (called === null || found === null) return noContext({ contextId });
    if (!isCurrent(found.version)) {
      return refuse('version_conflict', 'The settings have changed since you read them. Read them again.');
    }
    if (found.unfinished) {
      return refuse('context_busy', 'A job of this context is unfinished. Cancel it or wait for its end.');
    }
    const { headSeq } = await clear(tx, tenantId, contextId);
    return done({ contextId }, progressTo(contextId, headSeq));
  };
}
