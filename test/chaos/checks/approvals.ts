// A call that needs approval ran only after it, once, and with the approved input; the first decision counts and is
// published once.
import { isToolUse } from '../../../src/core/conversation/blocks.ts';
import { withWord, type Outside } from '../../e2e/outside/outside-tools.ts';
import { GUARD } from '../clients/inputs.ts';
import { groupBy, type Check, type PersonDecision, type Violation } from '../world/world.ts';
import type { StoredCall } from '../world/stored.ts';
import { reporter } from './violation.ts';

const violation = reporter('approvals');

export const approvals: Check = {
  name: 'approvals',
  find({ calls, decisions, outside, events, messages }) {
    const happened = groupBy(outside, ({ key }) => key);
    const published = groupBy(
      events.filter(({ name }) => name === 'ApprovalResolved'),
      ({ data }) => String(data['tool_call_id']),
    );
    const words = new Map(
      messages.flatMap(({ content }) =>
        content.filter(isToolUse).map(({ id, input }) => [id as string, wordIn(input)] as const),
      ),
    );
    const rules = new Set(
      decisions
        .filter(({ remember, outcome }) => remember && outcome.kind !== 'refused')
        .map(({ contextId, decision }) => `${contextId} ${decision}`),
    );
    const taken = decisions.flatMap((one) =>
      one.outcome.kind === 'taken' ? one.outcome.resolved.map((callId) => ({ callId, one })) : [],
    );
    const takenOf = groupBy(taken, ({ callId }) => callId);
    const known = new Set(calls.map(({ id }) => id));
    return [
      ...decisions
        .filter(({ outcome }) => outcome.kind === 'pending')
        .map(({ contextId, key, callId }) => violation('a decision never got through', contextId, key, callId)),
      ...taken
        .filter(({ callId }) => !known.has(callId))
        .map(({ callId, one }) => violation('a decision on no call', one.contextId, callId, one.key)),
      ...calls
        .filter(({ name }) => name === GUARD)
        .flatMap((call) => [
          ...ranFaults(call, happened.get(call.id) ?? [], words.get(call.id) ?? null, rules),
          ...decisionFaults(
            call,
            (takenOf.get(call.id) ?? []).map(({ one }) => one),
          ),
          ...publishedFaults(call, published.get(call.id)?.length ?? 0),
        ]),
    ];
  },
};

function ranFaults(
  call: StoredCall,
  happened: readonly Outside[],
  word: string | null,
  rules: ReadonlySet<string>,
): Violation[] {
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(violation(what, call.context_id, call.id));
  const { approval, approval_at: at, started_at: from } = call;
  if (happened.length > 0) {
    if (approval === null && !rules.has(`${call.context_id} approve`)) note('it ran without an approval');
    if (approval?.decision === 'deny') note('it was denied, and ran');
    if (call.status === 'denied' || call.status === 'expired') note(`it is ${call.status}, and ran`);
    const wanted = withWord(wordIn(approval?.input) ?? word ?? '');
    if (happened.some(({ what }) => what.startsWith(withWord('')) && what !== wanted))
      note('it was run with another input than was approved');
  }
  if (approval !== null && at !== null && from !== null && from < at) note('it began before it was approved');
  if (approval?.decision === 'deny' && call.status !== 'denied' && call.status !== 'cancelled')
    note(`it was denied, and is ${call.status}`);
  if (call.status === 'denied' && approval?.decision !== 'deny' && !rules.has(`${call.context_id} deny`))
    note('it is denied without a denial');
  return faults;
}

/** One person got the answer that the decision was accepted. */
function decisionFaults(call: StoredCall, taken: readonly PersonDecision[]): Violation[] {
  const ids = taken.map(({ key }) => key);
  if (taken.length > 1) return [violation(`${taken.length} decisions were accepted`, call.context_id, call.id, ...ids)];
  const [one] = taken;
  if (one === undefined)
    return call.approval === null ? [] : [violation('a decision that no client made', call.context_id, call.id)];
  const word = one.callId === call.id ? one.word : null;
  return call.approval?.decision === one.decision && wordIn(call.approval.input) === word
    ? []
    : [violation('another decision is stored than was accepted', call.context_id, call.id, ...ids)];
}

function publishedFaults(call: StoredCall, times: number): Violation[] {
  const wanted = call.approval === null ? 0 : 1;
  return times === wanted ? [] : [violation(`its decision is published ${times} times`, call.context_id, call.id)];
}

function wordIn(input: unknown): string | null {
  const isRecord = typeof input === 'object' && input !== null && 'word' in input;
  return isRecord && typeof input.word === 'string' ? input.word : null;
}
