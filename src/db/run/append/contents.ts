/**
 * The contents that an append stores, encoded once: the row of the context gets their size before the messages get their
 * text.
 */
import type { Block } from '../../../core/conversation/blocks.ts';
import type { NewMessage } from '../../../core/conversation/message.ts';
import type { Append, PartialAnswer } from '../../../core/run/append.ts';
import type { Spawn } from '../../../core/workers/spawn.ts';
import { EncodedJson } from '../../rows/encoded-json.ts';
import { placedEntries } from './entries.ts';

/** `messages`, `partials`: those of its entries. `children`: its spawns, with the content of their inputs. */
export type EncodedAppend = Append & { messages: PlacedMessage[]; partials: PlacedPartial[]; children: Child[] };

export type PlacedMessage = { message: NewMessage; place: number; content: EncodedJson<Block[]> };
export type PlacedPartial = { partial: PartialAnswer; place: number; content: EncodedJson<Block[]> };
export type Child = { spawn: Spawn; content: EncodedJson<Block[]> };

export function encodedAppend(append: Append): EncodedAppend {
  return {
    ...append,
    messages: placedEntries(append.entries).flatMap(({ entry, place }) => {
      if (entry.kind !== 'message') return [];
      const { message } = entry;
      return [{ message, place, content: new EncodedJson(message.content) }];
    }),
    partials: placedEntries(append.entries).flatMap(({ entry, place }) =>
      entry.kind === 'partial'
        ? [{ partial: entry, place, content: new EncodedJson([{ type: 'text', text: entry.text }]) }]
        : [],
    ),
    children: append.spawns.map((spawn) => ({
      spawn,
      content: new EncodedJson([{ type: 'text', text: spawn.input }]),
    })),
  };
}
