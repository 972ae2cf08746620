/** Tool calls begin and end. */
import type { Append, CallChange, Entry } from '../append.ts';
import type { ToolResultBlock } from '../blocks.ts';
import { closingOf } from '../closing-words.ts';
import type { Closing } from '../closing-words.ts';
import type { Ids, MessageId, ToolCallId } from '../ids.ts';
import type { ActiveJob } from '../job.ts';
import type { Mailbox, Snapshot } from '../snapshot.ts';
import type { ToolOutcome } from '../tool.ts';
import type { DurableState } from '../state.ts';
import type { ExecutionEnd, ExecutionOutcome } from '../execution.ts';
import type { Millis } from '../time.ts';
import { isReplied } from '../tool-call.ts';
import type { ClosedCallStatus, OpenCall, RepliedCall } from '../tool-call.ts';
import { answerTurn } from '../turn.ts';
import { isForWorkers } from '../wait.ts';
import { blank, event, stateChange } from './base.ts';

/** How one call ended, and what the model is told. */
export type ClosedCall = {
  call: OpenCall;
  status: ClosedCallStatus;
  result: ToolResultBlock;
  /** When this run began it; null: it did not, or only marked it. */
  beganAt: Millis | null;
};

/**
 * The mark that a `once` call is about to run. Guarded: nothing begins where a stop is on its way. By itself it brings
 * nothing forward: a call that kills its process each time it is run anew must be seen to.
 */
export function startCall(mailbox: Mailbox, call: OpenCall): Append {
  return {
    ...blank(mailbox),
    guard: { controlSeq: mailbox.controlSeq, wakeSeq: null },
    entries: [
      event({ name: 'ToolCallStarted', data: { tool_call_id: call.id, name: call.name, status: 'started' } }),
      ...stateChange(mailbox.state, 'ExecutingTools', call.jobId),
    ],
    calls: [{ kind: 'start', id: call.id }],
    state: 'ExecutingTools',
    progress: 'none',
  };
}

/** Results enter history. When none is open any more, the model is next. */
export function closeCalls(
  snapshot: Snapshot,
  job: ActiveJob,
  closed: readonly ClosedCall[],
  ids: Ids,
): Append {
  return enter(snapshot, job, closed, resultEntries(job, closed, ids));
}

/** What closed calls leave in history, and what the context is busy with then. */
export function enter(
  snapshot: Snapshot,
  job: ActiveJob,
  closed: readonly ClosedCall[],
  entries: readonly Entry[],
): Append {
  const to = stateOf(snapshot.calls.filter(({ id }) => !closed.some(({ call }) => call.id === id)));
  return {
    ...blank(snapshot),
    entries: [...entries, ...stateChange(snapshot.state, to, job.id)],
    calls: closed.map(closing),
    released: released(closed),
    state: to,
  };
}

/** What a context is busy with that has these calls left. */
export function stateOf(left: readonly Pick<OpenCall, 'status' | 'wait'>[]): DurableState {
  if (left.length === 0) return 'AwaitingLLMResponse';
  if (left.some(({ status }) => status !== 'waiting')) return 'ExecutingTools';
  const waits = new Set(left.map(({ wait }) => wait?.for ?? 'answer'));
  // A person is told first, whatever else is waited for.
  if (waits.has('approval') || waits.has('outcome')) return 'AwaitingToolApproval';
  if (waits.has('answer')) return 'AwaitingInput';
  return waits.has('workers') ? 'AwaitingWorkers' : 'ExecutingTools';
}

export function resultEntries(job: ActiveJob, closed: readonly ClosedCall[], ids: Ids): Entry[] {
  return closed.flatMap((one) => resultEntry(job, one, one.call.reply?.messageId ?? ids.next()));
}

export function resultEntry(job: ActiveJob, closed: ClosedCall, id: MessageId): Entry[] {
  return [
    finished(closed),
    {
      kind: 'message',
      message: {
        id,
        role: 'tool',
        type: 'tool_result',
        turn: answerTurn(job.turn),
        content: [closed.result],
        jobId: job.id,
        model: null,
      },
    },
  ];
}

/** The event that tells of it. */
export function finished({ call: { id, name }, status }: ClosedCall): Entry {
  return event({ name: 'ToolCallFinished', data: { tool_call_id: id, name, status } });
}

export function closing(closed: ClosedCall): CallChange {
  return { kind: 'close', id: closed.call.id, status: closed.status, execution: executionOf(closed) };
}

/** A `once` call has its entry from its mark. */
function executionOf({ call, status, beganAt }: ClosedCall): ExecutionEnd | null {
  const outcome = outcomeOf(status);
  if (call.effect !== 'once') return beganAt === null ? null : { beganAt, outcome };
  return call.status === 'started' || beganAt !== null ? { beganAt: null, outcome } : null;
}

function outcomeOf(status: ClosedCallStatus): ExecutionOutcome {
  switch (status) {
    case 'completed':
    case 'failed':
    case 'unknown':
      return status;
    case 'cancelled':
    case 'denied':
    case 'expired':
      return 'cancelled';
  }
}

/** Those that waited for workers. */
export function released(closed: readonly ClosedCall[]): ToolCallId[] {
  return closed.flatMap(({ call }) => (isForWorkers(call) ? [call.id] : []));
}

/** A call that ran, or whose tool said why it could not. */
export function ended(
  call: OpenCall,
  outcome: Extract<ToolOutcome, { kind: 'result' }>,
  beganAt: Millis | null = null,
): ClosedCall {
  const { content, is_error, compact_summary } = outcome;
  const result: ToolResultBlock = { type: 'tool_result', tool_use_id: call.id, content, is_error };
  return {
    call,
    status: is_error ? 'failed' : 'completed',
    result: compact_summary === undefined ? result : { ...result, compact_summary },
    beganAt,
  };
}

/** A call that was answered from outside. Whoever was asked for an outcome and has none says so as an error. */
export function replied(call: RepliedCall): ClosedCall {
  const { content, isError } = call.reply;
  const closed = ended(call, { kind: 'result', content, is_error: isError });
  return call.wait?.for === 'outcome' && isError ? { ...closed, status: 'unknown' } : closed;
}

/** A call whose job ends before it did: an answer that came in time counts, whatever else became of it is said by rule. */
export function closedWithJob(call: OpenCall): ClosedCall {
  return isReplied(call) ? replied(call) : closedByRule(call, closingOf(call));
}

/** A call that brought no result of its own. */
export function closedByRule(call: OpenCall, { status, text }: Closing): ClosedCall {
  return {
    call,
    status,
    result: { type: 'tool_result', tool_use_id: call.id, content: text, is_error: true },
    beganAt: null,
  };
}
