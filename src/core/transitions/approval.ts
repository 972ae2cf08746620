/** Checks before calls run: calls that need approval wait, forbidden calls are closed. */
import type { Append, CallChange, Entry } from '../run/append.ts';
import { FORBIDDEN } from '../conversation/closing-texts.ts';
import type { ContextEvent } from '../stream/event.ts';
import type { Ids } from '../ids.ts';
import type { ActiveJob } from '../run/job.ts';
import type { Json } from '../json.ts';
import type { Asking } from '../run/policy.ts';
import { parseQuestion } from '../conversation/question.ts';
import type { Snapshot } from '../run/snapshot.ts';
import type { Millis } from '../time.ts';
import type { AnsweredBy } from '../tools/tool.ts';
import type { ApprovalDecision, OpenCall, Wait } from '../tools/tool-call.ts';
import { event } from './base.ts';
import { closeCalls, closedByRule } from './tools.ts';

/** A call that does not run now. `input`: what it would run with. `wait` null: it is denied and closed. */
export type WaitingCall = { call: OpenCall; input: Json; answeredBy: AnsweredBy; wait: Wait | null };

/**
 * Writes all decisions of one step in one append. Guarded by `control_seq`: if a rule was added meanwhile, the calls
 * are checked again first.
 */
export function letCallsWait(snapshot: Snapshot, job: ActiveJob, waiting: readonly WaitingCall[], ids: Ids): Append {
  const waits = waiting.flatMap(({ wait, ...one }) => (wait === null ? [] : [{ ...one, wait }]));
  const changed = new Map(waits.map(({ call, wait }) => [call.id, wait]));
  const calls = snapshot.calls.map((call): OpenCall => {
    const wait = changed.get(call.id);
    return wait === undefined ? call : { ...call, status: 'waiting', wait };
  });
  const denied = waiting.flatMap(({ wait, call }) => (wait === null ? [closedByRule(call, FORBIDDEN)] : []));
  const closes = closeCalls({ ...snapshot, calls }, job, denied, ids);
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
  const of = { tool_call_id: call.id, name: call.name, job_id: job.id };
  if (wait.for === 'approval')
    return [event({ name: 'ApprovalRequested', data: { ...of, input, expires_at: toIso(wait.until) } })];
  const question = answeredBy === 'person' ? parseQuestion(input) : null;
  return [
    event({
      name: 'InputRequested',
      data: {
        ...of,
        question: question?.question ?? null,
        choices: question?.choices ?? null,
        input: question === null ? input : null,
      },
    }),
  ];
}

/** The decision for a call without a decision in time. */
export function approvalByTime(asking: Asking): ApprovalDecision {
  return { decision: asking.onExpiry, reason: null, input: null };
}

/** The event for a decision made by the timeout. */
export function resolvedEntry(
  call: Pick<OpenCall, 'id' | 'name' | 'jobId'>,
  { decision, reason, input }: ApprovalDecision,
): Entry {
  return event(approvalResolved(call, { decision, reason, input, remembered: false, by: 'timeout' }));
}

type Resolved = Extract<ContextEvent, { name: 'ApprovalResolved' }>;

export function approvalResolved(
  { id, name, jobId }: Pick<OpenCall, 'id' | 'name' | 'jobId'>,
  details: Pick<Resolved['data'], 'decision' | 'reason' | 'input' | 'remembered' | 'by'>,
): Resolved {
  return { name: 'ApprovalResolved', data: { tool_call_id: id, name, job_id: jobId, ...details } };
}

function toIso(at: Millis | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
