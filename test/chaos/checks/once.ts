// What may happen once happened once at most, and what is said of it is true: done means done, never ran means never.
import { isToolResult, textOf } from '../../../src/core/conversation/blocks.ts';
import { GUARD, SPAWN, WAIT } from '../clients/inputs.ts';
import { groupBy } from '../world/world.ts';
import type { StoredCall, StoredMessage } from '../world/stored.ts';
import type { Check, Violation } from '../world/world.ts';
import type { Outside } from '../../e2e/outside/outside-tools.ts';
import { sayer } from './violation.ts';

const says = sayer('once');
const MAY_HAPPEN_ONCE = ['mail', 'pay', 'wire', GUARD];
/** Whose results the check of workers reads. */
const OF_WORKERS: readonly string[] = [SPAWN, WAIT];
/** Begins before the answer that asks for it is stored, and may be all that is left of one that was lost. */
const CHANGES_NOTHING = 'look';
/** Of which somebody may say that it did not happen: it is begun anew then. */
const MAY_BEGIN_ANEW = ['wire'];

export const once: Check = {
  name: 'once',
  find({ outside, calls, messages, said }) {
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
    const resolved = new Set(
      said.filter(({ outcome }) => outcome === 'happened').map(({ callId }) => callId),
    );
    const strangers = [...happened].filter(([key, lines]) => !known.has(key) && !lines.every(changedNothing));
    return [
      ...strangers.map(([key]) => says('a tool ran for a call that nobody asked for', null, key)),
      ...calls.flatMap((call) => {
        const result = results.get(call.id);
        const isTakenBack = result === undefined && retracted.has(call.message_id);
        const words = typeof result?.content === 'string' ? result.content : '';
        return [
          ...happenedFaults(call, happened.get(call.id) ?? []),
          ...(isTakenBack &&
          began(call, happened.get(call.id) ?? []) &&
          !isNoted(call, notes.get(call.job_id) ?? [])
            ? [says('a call that began was taken back without a note', call.context_id, call.id, call.job_id)]
            : []),
          ...(call.status === 'unknown' &&
          !isTakenBack &&
          !(result?.is_error === true && /outcome unknown/.test(words))
            ? [says('an unknown outcome is not said so', call.context_id, call.id)]
            : []),
          // Of what a person said had happened nothing entered history yet when an interrupt took its answer back.
          ...(call.status === 'completed' &&
          !call.asked &&
          !OF_WORKERS.includes(call.name) &&
          !(isTakenBack && resolved.has(call.id)) &&
          (result?.is_error !== false || words !== `${call.name}: done`)
            ? [says('a completed call has another result', call.context_id, call.id)]
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

/** Whether a note of the platform names the call, or stands for more than it names. */
function isNoted({ name }: StoredCall, notes: readonly StoredMessage[]): boolean {
  return notes.some(({ content }) => textOf(content).includes(`${name}(`));
}

function happenedFaults(call: StoredCall, happened: readonly Outside[]): Violation[] {
  const count = (wanted: string): number => happened.filter(({ what }) => what === wanted).length;
  const [begun, effects] = [count('begin'), count('effect')];
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(says(what, call.context_id, call.id, call.job_id));
  if (call.status === 'completed' && !call.asked && !OF_WORKERS.includes(call.name) && effects === 0)
    note(`${call.name} is said to be done and had no effect`);
  if (!MAY_HAPPEN_ONCE.includes(call.name)) return faults;
  if (effects > 1) note(`${call.name} happened ${effects} times`);
  if (begun > 1 && !MAY_BEGIN_ANEW.includes(call.name)) note(`${call.name} began ${begun} times`);
  if (begun > 0 && call.started_at === null) note(`${call.name} ran and was never marked`);
  const ran = MAY_BEGIN_ANEW.includes(call.name) ? effects : begun;
  if (ran > 0 && call.status === 'cancelled') note(`${call.name} ran and is said not to have run`);
  return faults;
}
