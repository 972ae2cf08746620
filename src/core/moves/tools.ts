/** Tool calls begin and end. */
import type { Append, CallChange, Entry } from '../append.ts';
import type { ToolResultBlock } from '../blocks.ts';
import type { Closing } from '../closing-words.ts';
import type { Ids } from '../ids.ts';
import type { ActiveJob } from '../job.ts';
import type { Mailbox, Snapshot } from '../snapshot.ts';
import type { ToolOutcome } from '../tool.ts';
import type { ClosedCallStatus, OpenCall } from '../tool-call.ts';
import { answerTurn } from '../turn.ts';
import { blank, event, stateChange } from './base.ts';

/** How one call ended, and what the model is told. */
export type ClosedCall = { call: OpenCall; status: ClosedCallStatus; result: ToolResultBlock };

/** The mark that a `once` call is about to run. Guarded: nothing begins where a stop is on its way. */
export function startCall(mailbox: Mailbox, call: OpenCall): Append {
  return {
    ...blank(mailbox),
    guard: { controlSeq: mailbox.controlSeq, wakeSeq: null },
    entries: [
      event({ name: 'ToolCallStarted', data: { tool_call_id: call.id, name: call.name, status: 'started' } }),
    ],
    calls: [{ kind: 'start', id: call.id }],
  };
}

/** Results enter history. When none is open any more, the model is next. */
export function closeCalls(
  snapshot: Snapshot,
  job: ActiveJob,
  closed: readonly ClosedCall[],
  ids: Ids,
): Append {
  const left = snapshot.calls.length - closed.length;
  const to = left === 0 ? 'AwaitingLLMResponse' : 'ExecutingTools';
  return {
    ...blank(snapshot),
    entries: [...resultEntries(job, closed, ids), ...stateChange(snapshot.state, to, job.id)],
    calls: closed.map(closing),
    state: to,
  };
}

export function resultEntries(job: ActiveJob, closed: readonly ClosedCall[], ids: Ids): Entry[] {
  return closed.flatMap((call): Entry[] => [
    finished(call),
    {
      kind: 'message',
      message: {
        id: ids.next(),
        role: 'tool',
        type: 'tool_result',
        turn: answerTurn(job.turn),
        content: [call.result],
        jobId: job.id,
        model: null,
      },
    },
  ]);
}

/** The event that tells of it. */
export function finished({ call: { id, name }, status }: ClosedCall): Entry {
  return event({ name: 'ToolCallFinished', data: { tool_call_id: id, name, status } });
}

export function closing({ call, status }: ClosedCall): CallChange {
  return { kind: 'close', id: call.id, status };
}

/** A call that ran, or whose tool said why it could not. */
export function ended(call: OpenCall, outcome: Extract<ToolOutcome, { kind: 'result' }>): ClosedCall {
  const { content, is_error, compact_summary } = outcome;
  const result: ToolResultBlock = { type: 'tool_result', tool_use_id: call.id, content, is_error };
  return {
    call,
    status: is_error ? 'failed' : 'completed',
    result: compact_summary === undefined ? result : { ...result, compact_summary },
  };
}

/** A call that brought no result of its own. */
export function closedByRule(call: OpenCall, { status, text }: Closing): ClosedCall {
  return {
    call,
    status,
    result: { type: 'tool_result', tool_use_id: call.id, content: text, is_error: true },
  };
}
