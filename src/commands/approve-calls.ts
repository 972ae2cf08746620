/**
 * A person says whether calls are run that wait for that: one, or all of a context. The decision is stored beside the call;
 * whoever holds the context, or takes it up next, runs the call or ends it. The first verdict stands.
 */
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import type { ContextId, TenantId, ToolCallId } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import { approvalResolved } from '../core/transitions/approval.ts';
import { MOST_RULES, withRule } from '../core/policy.ts';
import { lockContext } from '../db/branches.ts';
import type { Executor } from '../db/client.ts';
import { configOf, findJudgedCall, undecidedCalls, writeApprovals } from '../db/approvals.ts';
import type { JudgedCall, NewApproval } from '../db/approvals.ts';
import { changeWorker } from '../db/workers.ts';
import { done } from './perform.ts';
import type { Command } from './perform.ts';

type Target = { tenantId: TenantId; contextId: ContextId };

export type Judgement = {
  /** Null: all that wait in the context. */
  toolCallId: ToolCallId | null;
  decision: 'approve' | 'deny';
  /** The model is told. */
  reason: string | null;
  /** What the call is run with instead of what the model asked; checked before. Null: as asked. */
  input: JsonObject | null;
  /** From now on this holds of the tool in this context: a rule in its config, and the other calls of it that wait. */
  remember: boolean;
};

/** In a transaction. Refused: `not_found`, `not_waiting`, `invalid_request` (no room for another rule). */
export function approveCalls(target: Target, judgement: Judgement): Command<{ resolved: ToolCallId[] }> {
  return async (tx) => {
    const { tenantId, contextId } = target;
    if (!(await lockContext(tx, target))) return refuse('not_found', `There is no context ${contextId}.`);
    const chosen = await choose(tx, target, judgement);
    if ('code' in chosen) return chosen;
    if (judgement.remember) {
      const refusal = await remember(tx, target, judgement, chosen);
      if (refusal !== null) return refusal;
    }
    const decisions = chosen.map((call) => decisionOn(call, judgement));
    const { headSeq, wakeSeq, epoch, runnable } = await writeApprovals(
      tx,
      { tenantId, contextId },
      decisions,
    );
    return done(
      { resolved: chosen.map(({ id }) => id) },
      { kind: 'progress', progress: { contextId, headSeq, finished: null } },
      ...(runnable ? ([{ kind: 'wake_up', wakeUp: { contextId, wakeSeq, epoch } }] as const) : []),
    );
  };
}

/** At least one; looked for under the lock of the context's row. */
async function choose(
  tx: Executor,
  target: Target,
  { toolCallId, remember }: Judgement,
): Promise<JudgedCall[] | Refusal> {
  if (toolCallId === null) {
    const all = await undecidedCalls(tx, target);
    return all.length > 0 ? all : refuse('not_waiting', 'No call of this context waits for approval.');
  }
  const call = await findJudgedCall(tx, target, toolCallId);
  if (call === null)
    return refuse('not_found', `There is no tool call ${toolCallId} in context ${target.contextId}.`);
  const refusal = whyNot(call);
  if (refusal !== null) return refusal;
  if (!remember) return [call];
  const others = await undecidedCalls(tx, target);
  return [call, ...others.filter(({ id, name }) => id !== call.id && name === call.name)];
}

/** Null: it waits for a decision. */
export function whyNot({ status, waitsFor, approval, late, ending }: JudgedCall): Refusal | null {
  const said = approval === null ? '' : `: ${approval.decision === 'approve' ? 'approved' : 'denied'}`;
  if (approval !== null) return refuse('not_waiting', `This call was decided already${said}.`);
  if (status !== 'waiting' || waitsFor !== 'approval')
    return refuse('not_waiting', `This call does not wait for approval: it is ${status}.`);
  if (late) return refuse('not_waiting', 'The time to decide on this call is over.');
  return ending ? refuse('not_waiting', 'The job of this call was told to end.') : null;
}

function decisionOn(
  call: JudgedCall,
  { toolCallId, decision, reason, input, remember }: Judgement,
): NewApproval {
  const approval = { decision, reason, input: call.id === toolCallId ? input : null };
  return {
    id: call.id,
    approval,
    told: approvalResolved(call, { ...approval, remembered: remember, by: 'person' }),
  };
}

/** A rule for each tool among the calls, ahead of those that stand. */
async function remember(
  tx: Executor,
  target: Target,
  { decision }: Judgement,
  calls: readonly JudgedCall[],
): Promise<Refusal | null> {
  const config = await configOf(tx, target);
  const rule = decision === 'approve' ? 'never' : 'deny';
  const names = [...new Set(calls.map(({ name }) => name))];
  const approval = names.reduce(
    (rules, tool) => withRule(rules, { tool, decision: rule }),
    config.approval ?? [],
  );
  if (approval.length > MOST_RULES)
    return refuse('invalid_request', `The config already has ${MOST_RULES} rules on approval.`, 'remember');
  await changeWorker(tx, target.contextId, { config: { ...config, approval } }, null);
  return null;
}
