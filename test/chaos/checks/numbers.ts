// Messages and events of a context share one sequence of numbers, from 1 to its head, without gap or repeat.
import { groupBy } from '../world/world.ts';
import type { Check } from '../world/world.ts';
import { sayer } from './violation.ts';

const says = sayer('numbers');

export const numbers: Check = {
  name: 'numbers',
  find({ contexts, messages, events }) {
    const ofMessages = groupBy(messages, ({ context_id: id }) => id);
    const ofEvents = groupBy(events, ({ context_id: id }) => id);
    return contexts.flatMap(({ id, head_seq: head }) => {
      const told = (ofMessages.get(id) ?? []).flatMap(({ seq }) => (seq === null ? [] : [seq]));
      const all = [...told, ...(ofEvents.get(id) ?? []).map(({ seq }) => seq)].sort((a, b) => a - b);
      const at = all.findIndex((seq, index) => seq !== index + 1);
      if (at !== -1) return [says(`the numbers break at ${at + 1}: found ${all[at]}`, id)];
      return all.length === head ? [] : [says(`the head is ${head}, the numbers end at ${all.length}`, id)];
    });
  },
};
