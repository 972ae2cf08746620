/** Tool calls start and end. */
import type { Append, CallChange, Entry } from '../run/append.ts';
import type { ToolResultBlock } from '../conversation/blocks.ts';
import { closingOf, type Closing } from '../conversation/closing-texts.ts';
import { resultOf, type ToolCallId } from '../ids.ts';
import type { ActiveJob } from '../run/job.ts';
import type { Mailbox, Snapshot } from '../run/snapshot.ts';
import type { SpawnedChild } from '../tools/starts.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import { codeIn } from '../tools/tool-use.ts';
import type { DurableState } from '../run/state.ts';
import type { ExecutionEnd, ExecutionOutcome } from '../run/execution.ts';
import type { Millis } from '../time.ts';
import { isReplied, type ClosedCallStatus, type OpenCall, type RepliedCall } from '../tools/tool-call.ts';
import { answerTurn } from '../conversation/turn.ts';
import { isForWorkers } from '../run/wait.ts';
import { blank, event, stateChange } from './base.ts';

/** The outcome of one call and the result for the model. */
export type ClosedCall = {
  call: OpenCall;
  status: ClosedCallStatus;
  result: ToolResultBlock;
  /** When this run started it; null: it did not, or the start is already in the ledger. */
  beganAt: Millis | null;
  /** Workers that its tool created. */
  spawned: readonly SpawnedChild[];
  /** Why it failed, if that is known. */
  code?: string;
};

/**
 * Marks a `once` call as about to run. Guarded: nothing starts if a stop request is on its way. The mark is not
 * progress, so that a call that kills its process each time is detected.
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

/** Results enter history. When no call is open any more, the model is called next. */
export function closeCalls(snapshot: Snapshot, job: ActiveJob, closed: readonly ClosedCall[]): Append {
  const to = stateOf(snapshot.calls.filter(({ id }) => !closed.some(({ call }) => call.id === id)));
  return {
    ...blank(snapshot),
    entries: [...resultEntries(job, closed), ...stateChange(snapshot.state, to, job.id)],
    calls: closed.map(closing),
    released: released(closed),
    state: to,
  };
}

/** The state of a context with these open calls. */
export function stateOf(left: readonly Pick<OpenCall, 'status' | 'wait'>[]): DurableState {
  if (left.length === 0) return 'AwaitingLLMResponse';
  if (left.some(({ status }) => status !== 'waiting')) return 'ExecutingTools';
  const waits = new Set(left.map(({ wait }) => wait?.for ?? 'answer'));
  // Waits for a person's decision take precedence over other waits.
  if (waits.has('approval') || waits.has('outcome')) return 'AwaitingToolApproval';
  if (waits.has('answer')) return 'AwaitingInput';
  return waits.has('workers') ? 'AwaitingWorkers' : 'ExecutingTools';
}

export function resultEntries(job: ActiveJob, closed: readonly ClosedCall[]): Entry[] {
  return closed.flatMap((one): Entry[] => [
    ...one.spawned.map((child) => workerSpawned(one.call.id, child)),
    finished(one),
    {
      kind: 'message',
      message: {
        id: resultOf(one.call.id),
        role: 'tool',
        type: 'tool_result',
        turn: answerTurn(job.turn),
        content: [one.result],
        jobId: job.id,
        model: null,
      },
    },
  ]);
}

export function workerSpawned(callId: ToolCallId, { name, workerId, jobId }: SpawnedChild): Entry {
  const data = { tool_call_id: callId, name, worker_id: workerId, job_id: jobId };
  return event({ name: 'WorkerSpawned', data });
}

export function finished({ call: { id, name }, status }: ClosedCall): Entry {
  return event({ name: 'ToolCallFinished', data: { tool_call_id: id, name, status } });
}

export function closing(closed: ClosedCall): CallChange {
  const { call, status, code } = closed;
  return { kind: 'close', id: call.id, status, execution: executionOf(closed), ...(code !== undefined && { code }) };
}

/** The ledger entry of a `once` call begins with its mark. */
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

/** The closed calls that waited for workers. */
export function released(closed: readonly ClosedCall[]): ToolCallId[] {
  return closed.flatMap(({ call }) => (isForWorkers(call) ? [call.id] : []));
}

/** A call that ran, or for which the tool returned an error without running. */
export function ended(
  call: OpenCall,
  outcome: Extract<ToolOutcome, { kind: 'result' }>,
  began: Millis | null = null,
): ClosedCall {
  const { content, is_error, compact_summary, spawned = [], settled } = outcome;
  const code = is_error ? (outcome.code ?? codeIn(content)) : null;
  const beganAt = settled === true ? null : began;
  const result: ToolResultBlock = { type: 'tool_result', tool_use_id: call.id, content, is_error };
  return {
    call,
    status: is_error ? 'failed' : 'completed',
    result: compact_summary === undefined ? result : { ...result, compact_summary },
    beganAt,
    spawned,
    ...(code !== null && { code }),
  };
}

/**
 * A call answered from outside. For a call that waits for its outcome, an error means that the outcome is not known.
 */
export function replied(call: RepliedCall): ClosedCall {
  const { content, isError, compactSummary: compact_summary } = call.reply;
  const result = { content, is_error: isError, ...(compact_summary !== undefined && { compact_summary }) };
  const closed = ended(call, { kind: 'result', ...result });
  return call.wait?.for === 'outcome' && isError ? { ...closed, status: 'unknown' } : closed;
}

/** A call whose job ends first: an answer that has arrived is used; otherwise the result is generated. */
export function closedWithJob(call: OpenCall): ClosedCall {
  return isReplied(call) ? replied(call) : closedByRule(call, closingOf(call));
}

/** A call closed with a generated result. */
export function closedByRule(call: OpenCall, { status, text }: Closing): ClosedCall {
  return {
    call,
    status,
    result: { type: 'tool_result', tool_use_id: call.id, content: text, is_error: true },
    beganAt: null,
    spawned: [],
  };
}
