/**
 * Somebody says what became of a call that was begun and that nobody saw end. It is stored beside the call; whoever holds
 * the context, or takes it up next, makes it history, or runs the call anew.
 */
import type { ResultPart } from '../core/blocks.ts';
import { HAPPENED, OUTCOME_UNKNOWN } from '../core/closing-words.ts';
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import type { Resolution } from '../core/execution.ts';
import type { ContextId, MessageId, TenantId, ToolCallId } from '../core/ids.ts';
import type { Reply } from '../core/tool-call.ts';
import { lockContext } from '../db/branches.ts';
import { findUnknownCall, resolveOutcome } from '../db/outcomes.ts';
import type { UnknownCall } from '../db/outcomes.ts';
import { done } from './perform.ts';
import type { Command, AfterCommit } from './perform.ts';
import type { CommandPorts } from './ports.ts';

type Target = { tenantId: TenantId; contextId: ContextId; toolCallId: ToolCallId };

/** `result` null: that it happened is all that is known. */
export type Resolved =
  | { outcome: Extract<Resolution, 'happened'>; result: string | ResultPart[] | null }
  | { outcome: Exclude<Resolution, 'happened'> };

/** In a transaction. Refused: `not_found`, `not_waiting`. */
export function resolveCall(
  ports: Pick<CommandPorts, 'ids' | 'boundResult'>,
  target: Target,
  resolved: Resolved,
): Command<Target> {
  return async (tx) => {
    const { contextId, toolCallId } = target;
    const call = (await lockContext(tx, target)) ? await findUnknownCall(tx, target, toolCallId) : null;
    if (call === null) {
      return refuse('not_found', `There is no tool call ${toolCallId} in context ${contextId}.`);
    }
    const refusal = whyNot(call);
    if (refusal !== null) return refusal;
    const reply = replyOf(ports, resolved);
    const { headSeq, wakeSeq, epoch, runnable } = await resolveOutcome(
      tx,
      target,
      { id: toolCallId, ...call },
      resolved.outcome,
      reply,
    );
    const afterCommit: AfterCommit[] = [
      { kind: 'progress', progress: { contextId, headSeq, finished: null } },
    ];
    if (runnable) afterCommit.push({ kind: 'wake_up', wakeUp: { contextId, wakeSeq, epoch } });
    return done(target, ...afterCommit);
  };
}

/** Null: it is to be run anew. */
function replyOf(
  { ids, boundResult }: Pick<CommandPorts, 'ids' | 'boundResult'>,
  resolved: Resolved,
): Reply | null {
  switch (resolved.outcome) {
    case 'happened': {
      const content = boundResult(resolved.result ?? HAPPENED);
      return { messageId: ids.next<MessageId>(), content, isError: false };
    }
    case 'did_not_happen':
      return null;
    case 'tell':
      return { messageId: ids.next<MessageId>(), content: OUTCOME_UNKNOWN.text, isError: true };
  }
}

function whyNot({ status, asked, over, ending }: UnknownCall): Refusal | null {
  if (!asked) {
    const how = status === 'waiting' ? 'it was resolved already, or waits for something else' : status;
    return refuse('not_waiting', `This call does not wait for its outcome: ${how}.`);
  }
  if (over) return refuse('not_waiting', 'This call has waited for its outcome too long: the model is told.');
  return ending ? refuse('not_waiting', 'The job of this call was told to end.') : null;
}
