/** Checks before calls run: calls that need approval wait, forbidden calls are closed. */
import type { Append, CallChange, Entry } from '../run/append.ts';
import { FORBIDDEN } from '../conversation/closing-words.ts';
import type { ContextEvent } from '../stream/event.ts';
import type { Ids } from '../ids.ts';
import type { ActiveJob } from '../run/job.ts';
import type { Json } from '../json.ts';
import type { Asking } from '../run/policy.ts';
import { parseQuestion } from '../conversation/question.ts';
import { sleepFrom } from '../run/sleep.ts';
import type { Snapshot } from '../run/snapshot.ts';
import type { Millis } from '../time.ts';
import type { AnsweredBy } from '../tools/tool.ts';
import type { ApprovalDecision, OpenCall, Wait } from '../tools/tool-call.ts';
import { event } from './base.ts';
import { closeCalls, closedByRule } from './tools.ts';

/** A call that does not run now. `input`: what it would run with. */
export type WaitingCall = {
  call: OpenCall;
  input: Json;
  /**
   * `approval`: a person must approve it. `answer`: a person or client must answer it. `timer`: it waits for a time.
   * `denied`: it is closed.
   */
  to: 'approval' | 'answer' | 'timer' | 'denied';
  answeredBy: AnsweredBy;
};

/**
 * Writes all decisions of one step in one append. Guarded by `control_seq`: if a rule was added meanwhile, the calls
 * are checked again first.
 */
export function letCallsWait(
  snapshot: Snapshot,
  job: ActiveJob,
  held: readonly WaitingCall[],
  asking: Asking,
  now: Millis,
  ids: Ids,
): Append {
  const waits = held.flatMap((one) =>
    one.to === 'denied' ? [] : [{ ...one, wait: waitOf(one, one.to, asking, now) }],
  );
  const changed = new Map(waits.map(({ call, wait }) => [call.id, wait]));
  const calls = snapshot.calls.map((call): OpenCall => {
    const wait = changed.get(call.id);
    return wait === undefined ? call : { ...call, status: 'waiting', wait };
  });
  const denied = held.flatMap(({ to, call }) => (to === 'denied' ? [closedByRule(call, FORBIDDEN)] : []));
  const closes = closeCalls({ ...snapshot, calls }, job, denied, ids);
  return {
    ...closes,
    guard: { controlSeq: snapshot.controlSeq, wakeSeq: null },
    entries: [...waits.flatMap((one) => requestEntry(one, one.wait, job)), ...closes.entries],
    calls: [
      ...waits.map(({ call, wait }): CallChange => ({ kind: 'wait', id: call.id, wait })),
      ...closes.calls,
    ],
  };
}

function waitOf(
  { input }: WaitingCall,
  to: 'approval' | 'answer' | 'timer',
  { approvalMs, answerMs }: Asking,
  now: Millis,
): Wait {
  // The input was valid when the call was checked; if `sleepFrom` now finds no valid time, the timer ends at once.
  if (to === 'timer') return sleepFrom(input, now) ?? { for: 'timer', since: now, until: now, needs: null };
  const lasts = to === 'approval' ? approvalMs : answerMs;
  return { for: to, until: lasts === null ? null : now + lasts, needs: null };
}

/** A timer publishes no request event. */
function requestEntry(
  { call, input, to, answeredBy }: WaitingCall,
  { until }: Wait,
  job: ActiveJob,
): Entry[] {
  if (to === 'timer') return [];
  const of = { tool_call_id: call.id, name: call.name, job_id: job.id };
  if (to === 'approval')
    return [event({ name: 'ApprovalRequested', data: { ...of, input, expires_at: toIso(until) } })];
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
  said: Pick<Resolved['data'], 'decision' | 'reason' | 'input' | 'remembered' | 'by'>,
): Resolved {
  return { name: 'ApprovalResolved', data: { tool_call_id: id, name, job_id: jobId, ...said } };
}

function toIso(at: Millis | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
