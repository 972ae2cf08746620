// A `once` call ran once at most, and its reported outcome is correct: done means done, never ran means never.
import { isToolResult, textOf } from '../../../src/core/conversation/blocks.ts';
import { GUARD, SPAWN, WAIT } from '../clients/inputs.ts';
import { SELL } from '../service-tools.ts';
import { groupBy, type Check, type Violation } from '../world/world.ts';
import type { StoredCall, StoredMessage } from '../world/stored.ts';
import type { Outside } from '../../e2e/outside/outside-tools.ts';
import { reporter } from './violation.ts';

const violation = reporter('once');
const MAY_HAPPEN_ONCE = ['mail', 'pay', 'wire', GUARD];
/** The check of workers reads their results. */
const OF_WORKERS: readonly string[] = [SPAWN, WAIT];
/** Starts before its answer is stored, and may be all that is left of a lost answer. */
const CHANGES_NOTHING = 'look';
/** A person may report that such a call did not happen: it is run again then. */
const MAY_RUN_AGAIN = ['wire'];

export const once: Check = {
  name: 'once',
  find({ outside, calls, messages, reported, service }) {
    const happened = groupBy(outside, ({ key }) => key);
    const known = new Set(calls.map(({ id }) => id));
    const results = new Map(
      messages.flatMap(({ content }) =>
        content.filter(isToolResult).map((result) => [result.tool_use_id as string, result] as const),
      ),
    );
    const retracted = new Set(messages.filter(({ status }) => status === 'retracted').map(({ id }) => id));
    const notes = groupBy(
      messages.filter(({ role }) => role === 'system'),
      ({ job_id: id }) => id,
    );
    const committed = new Set(service.sales.rows);
    const settled = new Set([
      ...reported.filter(({ outcome }) => outcome === 'happened').map(({ callId }) => callId),
      ...committed,
    ]);
    const strangers = [...happened].filter(([key, lines]) => !known.has(key) && !lines.every(changedNothing));
    return [
      ...strangers.map(([key]) => violation('a tool ran for a call that no model asked for', null, key)),
      ...calls.flatMap((call) => {
        const result = results.get(call.id);
        const isTakenBack = result === undefined && retracted.has(call.message_id);
        const text = typeof result?.content === 'string' ? result.content : '';
        return [
          ...happenedFaults(call, happened.get(call.id) ?? []),
          ...(isTakenBack &&
          (committed.has(call.id) || began(call, happened.get(call.id) ?? [])) &&
          !isNoted(call, notes.get(call.job_id) ?? [])
            ? [violation('a call that began was retracted without a note', call.context_id, call.id, call.job_id)]
            : []),
          ...(call.status === 'unknown' && !isTakenBack && !(result?.is_error === true && /outcome unknown/.test(text))
            ? [violation('an unknown outcome is not reported', call.context_id, call.id)]
            : []),
          // The outcome that a person reported, or that committed with its effect, was not in history yet when an interrupt
          // retracted its answer.
          ...(call.status === 'completed' &&
          !call.asked &&
          !OF_WORKERS.includes(call.name) &&
          !(isTakenBack && settled.has(call.id)) &&
          (result?.is_error !== false || text !== `${call.name}: done`)
            ? [violation('a completed call has another result', call.context_id, call.id)]
            : []),
        ];
      }),
    ];
  },
};

function changedNothing({ name }: Outside): boolean {
  return name === CHANGES_NOTHING;
}

function began(call: StoredCall, happened: readonly Outside[]): boolean {
  return call.started_at !== null || happened.length > 0;
}

/** Whether a note of the platform names the call, or covers more calls than it names. */
function isNoted({ name }: StoredCall, notes: readonly StoredMessage[]): boolean {
  return notes.some(({ content }) => textOf(content).includes(`${name}(`));
}

function happenedFaults(call: StoredCall, happened: readonly Outside[]): Violation[] {
  const count = (wanted: string): number => happened.filter(({ what }) => what === wanted).length;
  const [begun, effects] = [count('begin'), count('effect')];
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(violation(what, call.context_id, call.id, call.job_id));
  const isElsewhere = call.asked || OF_WORKERS.includes(call.name) || call.name === SELL;
  if (call.status === 'completed' && !isElsewhere && effects === 0)
    note(`${call.name} is reported as done and had no effect`);
  if (!MAY_HAPPEN_ONCE.includes(call.name)) return faults;
  if (effects > 1) note(`${call.name} happened ${effects} times`);
  if (begun > 1 && !MAY_RUN_AGAIN.includes(call.name)) note(`${call.name} began ${begun} times`);
  if (begun > 0 && call.started_at === null) note(`${call.name} ran and was never marked`);
  const ran = MAY_RUN_AGAIN.includes(call.name) ? effects : begun;
  if (ran > 0 && call.status === 'cancelled') note(`${call.name} ran and is reported as not run`);
  return faults;
}
