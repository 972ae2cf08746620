/** Checks before calls run: calls that need approval wait, forbidden calls are closed. */
import type { Append, CallChange, Entry } from '../run/append.ts';
import { FORBIDDEN } from '../conversation/closing-texts.ts';
import type { ContextEvent } from '../stream/event.ts';
import type { ActiveJob } from '../run/job.ts';
import type { Json } from '../json.ts';
import { parseQuestion } from '../conversation/question.ts';
import type { Snapshot } from '../run/snapshot.ts';
import { toIsoOrNull } from '../time.ts';
import type { AnsweredBy } from '../tools/tool.ts';
import type { OpenCall, Wait } from '../tools/tool-call.ts';
import { event, inputRequested } from './base.ts';
import { closeCalls, closedByRule } from './tools.ts';

/** A call that does not run now. `input`: what it would run with. `wait` null: it is denied and closed. */
export type WaitingCall = { call: OpenCall; input: Json; answeredBy: AnsweredBy; wait: Wait | null };

/**
 * Writes all decisions of one step in one append. Guarded by `control_seq`: if a rule was added meanwhile, the calls
 * are checked again first.
 */
export function letCallsWait(snapshot: Snapshot, job: ActiveJob, waiting: readonly WaitingCall[]): Append {
  const waits = waiting.flatMap(({ wait, ...one }) => (wait === null ? [] : [{ ...one, wait }]));
  const changed = new Map(waits.map(({ call, wait }) => [call.id, wait]));
  const calls = snapshot.calls.map((call): OpenCall => {
    const wait = changed.get(call.id);
    return wait === undefined ? call : { ...call, status: 'waiting', wait };
  });
  const denied = waiting.flatMap(({ wait, call }) => (wait === null ? [closedByRule(call, FORBIDDEN)] : []));
  const closes = closeCalls({ ...snapshot, calls }, job, denied);
  return {
    ...closes,
    guard: { controlSeq: snapshot.controlSeq, wakeSeq: null },
    entries: [...waits.flatMap((one) => requestEntry(one, one.wait, job)), ...closes.entries],
    calls: [...waits.map(({ call, wait }): CallChange => ({ kind: 'wait', id: call.id, wait })), ...closes.calls],
  };
}

/** A timer publishes no request event. */
function requestEntry({ call, input, answeredBy }: WaitingCall, wait: Wait, job: ActiveJob): Entry[] {
  if (wait.for === 'timer') return [];
  if (wait.for === 'approval') {
    const data = { tool_call_id: call.id, name: call.name, job_id: job.id, input, expires_at: toIsoOrNull(wait.until) };
    return [event({ name: 'ApprovalRequested', data })];
  }
  return [inputRequested({ ...call, input }, answeredBy === 'person' ? parseQuestion(input) : null, job.id)];
}

type Resolved = Extract<ContextEvent, { name: 'ApprovalResolved' }>;

export function approvalResolved(
  { id, name, jobId }: Pick<OpenCall, 'id' | 'name' | 'jobId'>,
  details: Pick<Resolved['data'], 'decision' | 'reason' | 'input' | 'remembered' | 'by' | 'actor'>,
): Resolved {
  return { name: 'ApprovalResolved', data: { tool_call_id: id, name, job_id: jobId, ...details } };
}
