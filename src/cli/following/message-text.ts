/** The text of a message, of all that it is made of. */
import type { ContentBlock } from '../../client/index.ts';

export function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
}
