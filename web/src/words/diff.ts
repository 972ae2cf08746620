/** Texts about what differs between two texts. */
import { count } from './count.ts';

export const diffWords = {
  label: 'Differences',
  same: 'No differences.',
  showMore: (lines: number) => `Show ${count(lines, 'more line', 'more lines')}`,
  showSame: (lines: number) => `Show ${count(lines, 'unchanged line', 'unchanged lines')}`,
  /** Before a line, for a screen reader. */
  kinds: { removed: 'Removed:', added: 'Added:' },
} as const;
