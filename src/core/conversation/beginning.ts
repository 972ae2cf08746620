/** The beginning of a text, on one line, as lists show it in place of a title. */
import type { InputBlock } from './blocks.ts';

/** Characters that are shown, and those that are looked at. */
export const BEGINNING = 120;
export const BEGINNING_OF = 1_000;

/** Null: it has no text. The search index says the same of stored messages, in SQL. */
export function beginningOf(content: readonly InputBlock[]): string | null {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  const line = Array.from(text.slice(0, BEGINNING_OF * 2))
    .slice(0, BEGINNING_OF)
    .join('')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line === '' ? null : Array.from(line).slice(0, BEGINNING).join('');
}
