/**
 * A person approves or denies calls that wait for approval: one, or all of a context. The decision is stored with the
 * call. The current or next run of the context runs the call or ends it. The first decision is final.
 */
import { toPublicActor, type Actor } from '../../core/access/actor.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import type { ContextId, TenantId, ToolCallId } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import { approvalResolved } from '../../core/transitions/approval.ts';
import { MOST_RULES, withRule } from '../../core/run/policy.ts';
import { lockContext } from '../../db/write/contexts/branches.ts';
import type { Executor } from '../../db/connection/client.ts';
import {
  configOf,
  findJudgedCall,
  undecidedCalls,
  writeApprovals,
  type JudgedCall,
  type NewApproval,
} from '../../db/calls/approvals.ts';
import { addGrants, removeGrants } from '../../db/calls/grants.ts';
import { changeWorker } from '../../db/write/workers/workers.ts';
import { progressTo, wakeUpIfRunnable } from '../after-commit.ts';
import { noCall, noContext } from '../inputs/refusals.ts';
import { done, type Command } from '../perform.ts';

type Target = { tenantId: TenantId; contextId: ContextId };

export type Judgement = {
  /** Null: all waiting calls of the context. */
  toolCallId: ToolCallId | null;
  decision: 'approve' | 'deny';
  /** Sent to the model. */
  reason: string | null;
  /** The input to run the call with instead of the model's, already validated. Null: the model's input. */
  input: JsonObject | null;
  /**
   * Applies the decision to this tool in the context from now on, and to its other waiting calls. An approval is stored
   * as a grant, for so many seconds. A denial becomes a rule of the config, and ends the grant.
   */
  remember: { lifetimeS: number } | null;
  actor: Actor;
};

export type DecidedCall = { id: ToolCallId; tool: string };

/** Refused: `not_found`, `not_waiting`, `invalid_request` (too many rules). */
export function approveCalls(target: Target, judgement: Judgement): Command<DecidedCall[]> {
  return async (tx) => {
    const { tenantId, contextId } = target;
    if (!(await lockContext(tx, target))) return noContext(target);
    const chosen = await choose(tx, target, judgement);
    if ('code' in chosen) return chosen;
    if (judgement.remember !== null) {
      const tools = [...new Set(chosen.map(({ name }) => name))];
      const { decision, actor, remember } = judgement;
      if (decision === 'approve') await addGrants(tx, target, { tools, actor, ...remember });
      const refusal = decision === 'deny' ? await denyFromNowOn(tx, target, tools) : null;
      if (refusal !== null) return refusal;
    }
    const decisions = chosen.map((call) => decisionOn(call, judgement));
    const written = await writeApprovals(tx, { tenantId, contextId }, decisions);
    return done(
      chosen.map(({ id, name }) => ({ id, tool: name })),
      progressTo(contextId, written.headSeq),
      ...wakeUpIfRunnable(contextId, written),
    );
  };
}

/** At least one call, read under the lock of the context's row. */
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
  if (call === null) return noCall({ ...target, toolCallId });
  const refusal = whyNot(call);
  if (refusal !== null) return refusal;
  if (remember === null) return [call];
  const others = await undecidedCalls(tx, target);
  return [call, ...others.filter(({ id, name }) => id !== call.id && name === call.name)];
}

/** Null: the call waits for a decision. */
export function whyNot({ status, waitsFor, approval, late, ending }: JudgedCall): Refusal | null {
  const decisionText = approval === null ? '' : `: ${approval.decision === 'approve' ? 'approved' : 'denied'}`;
  if (approval !== null) return refuse('not_waiting', `This call was already decided${decisionText}.`);
  if (status !== 'waiting' || waitsFor !== 'approval')
    return refuse('not_waiting', `This call does not wait for approval: its status is ${status}.`);
  if (late) return refuse('not_waiting', 'The time limit for this approval has passed.');
  return ending ? refuse('not_waiting', 'The job of this call is being stopped.') : null;
}

function decisionOn(call: JudgedCall, judgement: Judgement): NewApproval {
  const { toolCallId, decision, reason, input, remember, actor } = judgement;
  const approval = { decision, reason, input: call.id === toolCallId ? input : null };
  const resolved = { ...approval, remembered: remember !== null, by: 'person', actor: toPublicActor(actor) } as const;
  return { id: call.id, approval: { ...approval, actor }, event: approvalResolved(call, resolved) };
}

/**
 * Adds a rule for each tool, ahead of the existing rules. Their grants end: who removes the rule must not thereby approve
 * again.
 */
async function denyFromNowOn(tx: Executor, target: Target, tools: readonly string[]): Promise<Refusal | null> {
  await removeGrants(tx, target, tools);
  const config = await configOf(tx, target);
  const approval = tools.reduce((rules, tool) => withRule(rules, { tool, decision: 'deny' }), config.approval ?? []);
  if (approval.length > MOST_RULES)
    return refuse(
      'invalid_request',
      `The config can have ${MOST_RULES} approval rules at most. Remove some first.`,
      'remember',
    );
  await changeWorker(tx, target.contextId, { config: { ...config, approval } }, null);
  return null;
}
