/** Waiting calls: they wait without a slot until their result enters history. */
import type { Append, CallChange } from '../run/append.ts';
import type { ActiveJob } from '../run/job.ts';
import type { Mailbox, Snapshot } from '../run/snapshot.ts';
import type { Millis } from '../time.ts';
import { deniedWith, expiredWait } from '../conversation/closing-texts.ts';
import type { ToolCallId } from '../ids.ts';
import { ASKING_DEFAULTS } from '../run/policy.ts';
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
 */
export function endWaits(
  snapshot: Snapshot,
  { job, over, now }: EndedWaits,
  workerResults: WorkerResults = new Map(),
): Append {
  const asking = snapshot.serving.kind === 'served' ? snapshot.serving.settings.asking : ASKING_DEFAULTS;
  const timedOut = over.filter(isUnjudged);
  const approval: ApprovalDecision = { decision: asking.onExpiry, reason: null, input: null };
  const approved = approval.decision === 'approve' ? timedOut : [];
  const runs = new Set(approved.map(({ id }) => id));
  const left = snapshot.calls.map((call): OpenCall =>
    runs.has(call.id) ? { ...call, status: 'pending', wait: null, approval } : call,
  );
  const closed = over.filter(({ id }) => !runs.has(id)).map((call) => waitEnded(call, now, workerResults));
  const closes = closeCalls({ ...snapshot, calls: left }, job, closed);
  return {
    ...closes,
    guard: { controlSeq: snapshot.controlSeq, wakeSeq: null },
    entries: [
      ...timedOut.map((call) => event(approvalResolved(call, { ...approval, remembered: false, by: 'timeout' }))),
      ...closes.entries,
    ],
    calls: [...approved.map(({ id }): CallChange => ({ kind: 'approve', id, approval })), ...closes.calls],
    job: { kind: 'progress', job: { ...job, status: 'running' } },
  };
}

/** It waited for an approval decision, and none was given in time. */
function isUnjudged({ wait, approval }: OpenCall): boolean {
  return wait?.for === 'approval' && approval === null;
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
