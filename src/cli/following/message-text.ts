/** The text blocks of a message, joined. */
import type { ContentBlock } from '../../client/index.ts';

export function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
}
