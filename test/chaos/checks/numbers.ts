// Messages and events of a context share one sequence of numbers, from 1 to its head, without gap or repeat.
import { groupBy, type Check } from '../world/world.ts';
import { reporter } from './violation.ts';

const violation = reporter('numbers');

export const numbers: Check = {
  name: 'numbers',
  find({ contexts, messages, events }) {
    const ofMessages = groupBy(messages, ({ context_id: id }) => id);
    const ofEvents = groupBy(events, ({ context_id: id }) => id);
    return contexts.flatMap(({ id, head_seq: head }) => {
      const published = (ofMessages.get(id) ?? []).flatMap(({ seq }) => (seq === null ? [] : [seq]));
      const all = [...published, ...(ofEvents.get(id) ?? []).map(({ seq }) => seq)].sort((a, b) => a - b);
      const at = all.findIndex((seq, index) => seq !== index + 1);
      if (at !== -1) return [violation(`the numbers break at ${at + 1}: found ${all[at]}`, id)];
      return all.length === head ? [] : [violation(`the head is ${head}, the numbers end at ${all.length}`, id)];
    });
  },
};
