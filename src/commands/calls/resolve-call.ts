/**
 * Resolves a call whose outcome is unknown: a run began it, and no run saw its end. The outcome is stored with the
 * call. The current or next run of the context adds it to history, or runs the call again.
 */
import type { ResultPart } from '../../core/conversation/blocks.ts';
import { HAPPENED, OUTCOME_UNKNOWN } from '../../core/conversation/closing-texts.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import type { Resolution } from '../../core/run/execution.ts';
import type { ContextId, TenantId, ToolCallId } from '../../core/ids.ts';
import type { Reply } from '../../core/tools/tool-call.ts';
import { lockContext } from '../../db/write/contexts/branches.ts';
import { findUnknownCall, resolveOutcome, type UnknownCall } from '../../db/calls/outcomes.ts';
import { progressTo, wakeUpIfRunnable } from '../after-commit.ts';
import { noCall } from '../inputs/refusals.ts';
import { done, type Command } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';

type Target = { tenantId: TenantId; contextId: ContextId; toolCallId: ToolCallId };

/** `result` null: it is only known that the call happened. */
export type Resolved =
  | { outcome: Extract<Resolution, 'happened'>; result: string | ResultPart[] | null }
  | { outcome: Exclude<Resolution, 'happened'> };

/** Refused: `not_found`, `not_waiting`. */
export function resolveCall(
  { boundResult }: Pick<CommandPorts, 'boundResult'>,
  target: Target,
  resolved: Resolved,
): Command<Target> {
  return async (tx) => {
    const { contextId, toolCallId } = target;
    const call = (await lockContext(tx, target)) ? await findUnknownCall(tx, target, toolCallId) : null;
    if (call === null) return noCall(target);
    const refusal = whyNot(call);
    if (refusal !== null) return refusal;
    const reply = replyOf(boundResult, resolved);
    const stored = await resolveOutcome(tx, target, { id: toolCallId, ...call }, { outcome: resolved.outcome, reply });
    const progress = progressTo(contextId, stored.headSeq);
    return done(target, progress, ...wakeUpIfRunnable(contextId, stored));
  };
}

/** Null: the call is to be run again. */
function replyOf(boundResult: CommandPorts['boundResult'], resolved: Resolved): Reply | null {
  switch (resolved.outcome) {
    case 'happened':
      return { content: boundResult(resolved.result ?? HAPPENED), isError: false };
    case 'did_not_happen':
      return null;
    case 'tell':
      return { content: OUTCOME_UNKNOWN.text, isError: true };
  }
}

function whyNot({ status, asked, over, ending }: UnknownCall): Refusal | null {
  if (!asked) {
    const how =
      status === 'waiting' ? 'it was already resolved, or waits for something else' : `its status is ${status}`;
    return refuse('not_waiting', `This call does not wait for its outcome: ${how}.`);
  }
  if (over)
    return refuse('not_waiting', 'The time limit for this outcome has passed. The model is told that it is unknown.');
  return ending ? refuse('not_waiting', 'The job of this call is being stopped.') : null;
}
