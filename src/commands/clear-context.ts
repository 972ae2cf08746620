/** Clear: the conversation begins anew. What was said stays stored, and in the stream; nothing of it is history any more. */
import { refuse } from '../core/errors.ts';
import type { ContextId, TenantId } from '../core/ids.ts';
import { clear, lookBeforeClear } from '../db/clear.ts';
import { lockForControl } from '../db/stop-requests.ts';
import { done } from './perform.ts';
import type { Command } from './perform.ts';
import type { CommandPorts } from './ports.ts';

export type ClearContext = {
  tenantId: TenantId;
  contextId: ContextId;
  /** Whether the version of the settings that stands is the one that was meant. */
  isCurrent: (version: number) => boolean;
};

/**
 * In a transaction. Refused: `not_found`, `version_conflict`, `context_busy` while a job is unfinished: one that is queued
 * was accepted to be answered in the light of what is said so far.
 */
export function clearContext(
  { times }: Pick<CommandPorts, 'times'>,
  { tenantId, contextId, isCurrent }: ClearContext,
): Command<{ contextId: ContextId }> {
  return async (tx) => {
    const called = await lockForControl(tx, tenantId, contextId, times);
    const found = called === null ? null : await lookBeforeClear(tx, tenantId, contextId);
    if (called === null || found === null) return refuse('not_found', `There is no context ${contextId}.`);
    if (!isCurrent(found.version)) {
      return refuse('version_conflict', 'The settings were changed meanwhile: read them again.');
    }
    if (found.unfinished) {
      return refuse('context_busy', 'A job of this context is unfinished: cancel it, or wait for its end.');
    }
    const { headSeq } = await clear(tx, tenantId, contextId);
    return done({ contextId }, { kind: 'progress', progress: { contextId, headSeq, finished: null } });
  };
}
