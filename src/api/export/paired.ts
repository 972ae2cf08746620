/** Writes a conversation as pairs of user and assistant text. */
import { textOf } from '../../core/conversation/blocks.ts';
import type { StoredContext, StoredMessage } from '../../db/read/messages/export.ts';
import type { Pair } from '../schemas/contexts/export.ts';

/** `pages`: the current history of the branch. */
export async function* pairedOf(
  { title }: StoredContext,
  pages: AsyncIterable<StoredMessage[]>,
): AsyncGenerator<string> {
  yield `{"title":${JSON.stringify(title)},"entries":[`;
  let separator = '\n';
  for await (const pair of pairs(pages)) {
    yield `${separator}${JSON.stringify(pair)}`;
    separator = ',\n';
  }
  yield '\n]}\n';
}

/** An answer belongs to the input before it. An input without an answer, or the reverse, is an entry by itself. */
async function* pairs(pages: AsyncIterable<StoredMessage[]>): AsyncGenerator<Pair> {
  let open: Pair = {};
  for await (const page of pages) {
    for (const { role, content } of page) {
      const text = textOf(content);
      if (role === 'user') {
        if (open.user !== undefined || open.assistant !== undefined) yield open;
        open = { user: text };
      } else if (role === 'assistant' && text !== '') {
        open = { ...open, assistant: open.assistant === undefined ? text : `${open.assistant}\n\n${text}` };
      }
    }
  }
  if (open.user !== undefined || open.assistant !== undefined) yield open;
}
