/**
 * Calls that were started and have no process left to report their outcome. Their tools are asked first, and a tool's
 * report is final. If the tool cannot tell, the model is told that the outcome is unknown, or a person is asked: then
 * the call waits without a slot.
 */
import type { Append, CallChange, Entry } from '../run/append.ts';
import { OUTCOME_UNKNOWN } from '../conversation/closing-texts.ts';
import type { ActiveJob } from '../run/job.ts';
import type { Json } from '../json.ts';
import type { Snapshot } from '../run/snapshot.ts';
import { toIsoOrNull, type Millis } from '../time.ts';
import type { Reconciled } from '../tools/tool.ts';
import type { OpenCall, Wait } from '../tools/tool-call.ts';
import { blank, event, stateChange } from './base.ts';
import { closedByRule, closing, ended, resultEntries, stateOf, type ClosedCall } from './tools.ts';

/** `input`: what the call ran with. */
export type LostCall = { call: OpenCall; input: Json; reconciled: Exclude<Reconciled, { kind: 'aborted' }> };

/** `until`: the time limit for a person's answer; null: none. */
type LostCalls = { calls: readonly LostCall[]; until: Millis | null };

/** What becomes of a call. `left`: the call after the append; empty: it is closed. */
type Ending = { left: Pick<OpenCall, 'status' | 'wait'>[]; entries: Entry[]; change: CallChange };

export function settleOutcomes(snapshot: Snapshot, job: ActiveJob, { calls, until }: LostCalls): Append {
  const byCall = new Map(calls.map((lost) => [lost.call.id, endingOf(lost, job, until)]));
  const endings = [...byCall.values()];
  const to = stateOf(snapshot.calls.flatMap((call) => byCall.get(call.id)?.left ?? [call]));
  return {
    ...blank(snapshot),
    entries: [...endings.flatMap(({ entries }) => entries), ...stateChange(snapshot.state, to, job.id)],
    calls: endings.map(({ change }) => change),
    state: to,
    // Running a call again is not progress, so that a call that kills its process each time is detected.
    progress: endings.every(({ change }) => change.kind === 'reopen') ? 'none' : 'made',
  };
}

function endingOf({ call, input, reconciled }: LostCall, job: ActiveJob, until: Millis | null): Ending {
  switch (reconciled.kind) {
    case 'happened':
      return closed(ended(call, reconciled.result), job);
    case 'did_not_happen':
      return { left: [{ status: 'pending', wait: null }], entries: [], change: { kind: 'reopen', id: call.id } };
    case 'unknown':
      return call.onUnknown === 'ask'
        ? asked(call, input, job, until)
        : closed(closedByRule(call, OUTCOME_UNKNOWN), job);
  }
}

function closed(call: ClosedCall, job: ActiveJob): Ending {
  return { left: [], entries: resultEntries(job, [call]), change: closing(call) };
}

function asked({ id, name }: OpenCall, input: Json, job: ActiveJob, until: Millis | null): Ending {
  const wait: Wait = { for: 'outcome', until, needs: null };
  const data = { tool_call_id: id, name, job_id: job.id, input, until: toIsoOrNull(until) };
  return {
    left: [{ status: 'waiting', wait }],
    entries: [event({ name: 'OutcomeUnknown', data })],
    change: { kind: 'wait', id, wait },
  };
}
