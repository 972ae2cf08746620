/** What the things of the API are called on a page. */
import type { Context, ContentBlock, Message } from 'nightshift/client';

/** Its title, else what its worker is called, where that says something. */
export function contextName({
  title,
  worker_name,
  id,
}: Pick<Context, 'title' | 'worker_name' | 'id'>): string {
  if (title !== null && title.trim() !== '') return title;
  return worker_name.trim() !== '' ? worker_name : `Context ${shortId(id)}`;
}

/** The end of a UUIDv7 is what tells two of one moment apart. */
export function shortId(id: string): string {
  return id.slice(-6);
}

/** All that is said in it, without thoughts and tools. */
export function textOf({ content }: Pick<Message, 'content'>): string {
  return content
    .filter((block): block is Extract<ContentBlock, { type: 'text' }> => block.type === 'text')
    .map((block) => block.text)
    .join('\n\n');
}
