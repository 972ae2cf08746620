/** Display texts for objects of the API. */
import type { Context, ContentBlock, Message } from 'nightshift/client';
import { nameWords } from '../words.ts';

type Named = Pick<Context, 'title' | 'first_input' | 'parent_worker_id' | 'worker_name' | 'id'>;

/**
 * The title, else the beginning of the first input, else the name of the worker, else a short id. A worker that another
 * one created was given its name on purpose.
 */
export function contextName({ title, first_input: firstInput, parent_worker_id, worker_name, id }: Named): string {
  if (title !== null && title.trim() !== '') return title;
  if (firstInput !== null && parent_worker_id === null) return firstInput;
  return worker_name.trim() !== '' ? worker_name : nameWords.context(shortId(id));
}

/** The last six characters: ids (UUIDv7) created at the same time differ only at the end. */
export function shortId(id: string): string {
  return id.slice(-6);
}

/** Text blocks of a message, without thinking and tool blocks. */
export function textOf({ content }: Pick<Message, 'content'>): string {
  return content
    .filter((block): block is Extract<ContentBlock, { type: 'text' }> => block.type === 'text')
    .map((block) => block.text)
    .join('\n\n');
}
