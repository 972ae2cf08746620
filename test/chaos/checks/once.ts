// What may happen once happened once at most, and what is said of it is true: done means done, never ran means never.
import { isToolResult, textOf } from '../../../src/core/blocks.ts';
import { groupBy } from '../world.ts';
import type { Check, StoredCall, StoredMessage, Violation } from '../world.ts';
import type { Outside } from '../../e2e/outside-tools.ts';
import { sayer } from './violation.ts';

const says = sayer('once');
const MAY_HAPPEN_ONCE = ['mail', 'pay'];

export const once: Check = {
  name: 'once',
  find({ outside, calls, messages }) {
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
    const strangers = [...happened.keys()].filter((key) => !known.has(key));
    return [
      ...strangers.map((key) => says('a tool ran for a call that nobody asked for', null, key)),
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
          ...(call.status === 'completed' && (result?.is_error !== false || words !== `${call.name}: done`)
            ? [says('a completed call has another result', call.context_id, call.id)]
            : []),
        ];
      }),
    ];
  },
};

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
  if (call.status === 'completed' && effects === 0) note(`${call.name} is said to be done and had no effect`);
  if (!MAY_HAPPEN_ONCE.includes(call.name)) return faults;
  if (begun > 1) note(`${call.name} began ${begun} times`);
  if (begun > 0 && call.started_at === null) note(`${call.name} ran and was never marked`);
  if (begun > 0 && call.status === 'cancelled') note(`${call.name} ran and is said not to have run`);
  return faults;
}
