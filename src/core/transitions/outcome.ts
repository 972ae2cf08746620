/**
 * Calls that were started and have no process left to report their outcome. Their tools are asked first, and a tool's
 * report is final. If the tool cannot tell, the model is told that the outcome is unknown, or a person is asked: then
 * the call waits without a slot.
 */
import type { Append, CallChange, Entry } from '../run/append.ts';
import { OUTCOME_UNKNOWN } from '../conversation/closing-texts.ts';
import type { Ids } from '../ids.ts';
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

type Ending =
  | { kind: 'closed'; closed: ClosedCall }
  | { kind: 'reopened'; call: OpenCall }
  | { kind: 'asked'; call: OpenCall; input: Json };

export function settleOutcomes(snapshot: Snapshot, job: ActiveJob, { calls, until }: LostCalls, ids: Ids): Append {
  const endings = calls.map(endingOf);
  const wait: Wait = { for: 'outcome', until, needs: null };
  const to = stateOf(snapshot.calls.flatMap((call) => left(call, endings, wait)));
  return {
    ...blank(snapshot),
    entries: [
      ...endings.flatMap((ending) => entriesOf(ending, job, until, ids)),
      ...stateChange(snapshot.state, to, job.id),
    ],
    calls: endings.map((ending) => changeOf(ending, wait)),
    state: to,
    // Running a call again is not progress, so that a call that kills its process each time is detected.
    progress: endings.every(({ kind }) => kind === 'reopened') ? 'none' : 'made',
  };
}

function endingOf({ call, input, reconciled }: LostCall): Ending {
  switch (reconciled.kind) {
    case 'happened':
      return { kind: 'closed', closed: ended(call, reconciled.result) };
    case 'did_not_happen':
      return { kind: 'reopened', call };
    case 'unknown':
      return call.onUnknown === 'ask'
        ? { kind: 'asked', call, input }
        : { kind: 'closed', closed: closedByRule(call, OUTCOME_UNKNOWN) };
  }
}

function left(call: OpenCall, endings: readonly Ending[], wait: Wait): Pick<OpenCall, 'status' | 'wait'>[] {
  const ending = endings.find((one) => (one.kind === 'closed' ? one.closed.call : one.call).id === call.id);
  switch (ending?.kind) {
    case undefined:
      return [call];
    case 'closed':
      return [];
    case 'reopened':
      return [{ status: 'pending', wait: null }];
    case 'asked':
      return [{ status: 'waiting', wait }];
  }
}

function entriesOf(ending: Ending, job: ActiveJob, until: Millis | null, ids: Ids): Entry[] {
  switch (ending.kind) {
    case 'closed':
      return resultEntries(job, [ending.closed], ids);
    case 'reopened':
      return [];
    case 'asked': {
      const { call, input } = ending;
      const data = { tool_call_id: call.id, name: call.name, job_id: job.id, input, until: toIsoOrNull(until) };
      return [event({ name: 'OutcomeUnknown', data })];
    }
  }
}

function changeOf(ending: Ending, wait: Wait): CallChange {
  switch (ending.kind) {
    case 'closed':
      return closing(ending.closed);
    case 'reopened':
      return { kind: 'reopen', id: ending.call.id };
    case 'asked':
      return { kind: 'wait', id: ending.call.id, wait };
  }
}
