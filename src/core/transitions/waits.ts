/** Waiting calls: they wait without a slot until their result enters history. */
import type { Append, CallChange } from '../run/append.ts';
import type { ActiveJob } from '../run/job.ts';
import type { Mailbox, Snapshot } from '../run/snapshot.ts';
import type { Millis } from '../time.ts';
import { deniedWith, expiredWait } from '../conversation/closing-texts.ts';
import type { ToolCallId } from '../ids.ts';
import { ASKING_DEFAULTS } from '../run/policy.ts';
import type { ContextEvent } from '../stream/event.ts';
import { sleptText } from '../run/sleep.ts';
import { isReplied, type ApprovalDecision, type OpenCall } from '../tools/tool-call.ts';
import type { CallResult } from '../workers/spawn.ts';
import { isForWorkers, type EndedWaits } from '../run/wait.ts';
import { approvalResolved } from './approval.ts';
import { blank, event, stateChange } from './base.ts';
import { closeCalls, closedByRule, ended, replied, stateOf, type ClosedCall } from './tools.ts';

export type WorkerResults = ReadonlyMap<ToolCallId, CallResult>;

/**
 * The results of ended waits enter history. The job continues under this lease as the same attempt, because no model
 * call was in flight. Guarded by `control_seq`: an answer that arrives just before the timeout still counts.
 * `byTimeout`: the calls that run because their approval timed out; the others that timed out are denied.
 */
export function endWaits(
  snapshot: Snapshot,
  { job, over, now }: EndedWaits,
  workerResults: WorkerResults = new Map(),
  byTimeout: ReadonlySet<ToolCallId> = new Set(),
): Append {
  const timedOut = over.filter(isUndecided);
  const left = snapshot.calls.map((call): OpenCall =>
    byTimeout.has(call.id) ? { ...call, status: 'pending', wait: null, approval: APPROVED } : call,
  );
  const closed = over.filter(({ id }) => !byTimeout.has(id)).map((call) => waitEnded(call, now, workerResults));
  const closes = closeCalls({ ...snapshot, calls: left }, job, closed);
  return {
    ...closes,
    guard: { controlSeq: snapshot.controlSeq, wakeSeq: null },
    entries: [
      ...timedOut.map((call) => event(timeoutOf(call, byTimeout.has(call.id) ? APPROVED : DENIED))),
      ...closes.entries,
    ],
    calls: [...[...byTimeout].map((id): CallChange => ({ kind: 'approve', id, approval: APPROVED })), ...closes.calls],
    job: { kind: 'progress', job: { ...job, status: 'running' } },
  };
}

const APPROVED: ApprovalDecision = { decision: 'approve', reason: null, input: null };
const DENIED: ApprovalDecision = { ...APPROVED, decision: 'deny' };

function timeoutOf(call: OpenCall, approval: ApprovalDecision): ContextEvent {
  return approvalResolved(call, { ...approval, remembered: false, by: 'timeout', actor: null });
}

/** It waited for an approval decision, and none was given in time. */
export function isUndecided({ wait, approval }: OpenCall): boolean {
  return wait?.for === 'approval' && approval === null;
}

/** Whether an approval that times out lets a call run, if the tool itself does not ask for it. */
export function isApprovedByTimeout({ serving }: Snapshot): boolean {
  const { onExpiry } = serving.kind === 'served' ? serving.settings.asking : ASKING_DEFAULTS;
  return onExpiry === 'approve';
}

/** The result of a wait that ended, by an answer or by its timeout. */
function waitEnded(call: OpenCall, now: Millis, workerResults: WorkerResults): ClosedCall {
  if (isReplied(call)) return replied(call);
  const result = workerResults.get(call.id);
  if (result !== undefined) return ended(call, result);
  const { wait, effect, approval } = call;
  if (wait?.for === 'approval' && approval !== null) return closedByRule(call, deniedWith(approval.reason));
  if (wait?.for !== 'timer') return closedByRule(call, expiredWait(effect, wait?.for));
  return ended(call, { kind: 'result', content: sleptText(wait.since, now), is_error: false });
}

/**
 * Waits without a slot. Guarded by `control_seq`: a concurrent answer or stop request must be handled first. Also
 * guarded by `wake_seq` if a call waits for workers, because the end of their jobs raises only that counter. A claim
 * that only found waiting calls does not count.
 */
export function awaitCalls(mailbox: Mailbox, job: ActiveJob, until: Millis): Append {
  const to = stateOf(mailbox.calls);
  return {
    ...blank(mailbox),
    guard: {
      controlSeq: mailbox.controlSeq,
      wakeSeq: mailbox.calls.some(isForWorkers) ? mailbox.wakeSeq : null,
    },
    entries: stateChange(mailbox.state, to, job.id),
    job: { kind: 'progress', job: { ...job, status: 'waiting' } },
    state: to,
    park: { status: 'waiting', until },
    progress: 'returned',
  };
}
