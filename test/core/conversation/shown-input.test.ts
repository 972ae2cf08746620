// An input that a summary of another branch covers stays in the prompt for as long as its job runs.
import { expect, test } from 'vitest';
import { shownBy, type Compacted } from '../../../src/core/compaction/compacted.ts';
import type { Message } from '../../../src/core/conversation/message.ts';

const entry = (seq: number, role: Message['role']) => ({ id: `m-${seq}`, seq, role }) as unknown as Message;

const history = [entry(1, 'user'), entry(2, 'assistant'), entry(3, 'user'), entry(8, 'assistant'), entry(9, 'tool')];

function shown(uptoSeq: number, length: number): number[] {
  const compacted = { summary: { uptoSeq }, shortening: null } as unknown as Compacted;
  const read = history.slice(0, length);
  return read.filter(shownBy({ history: read, compacted })).map(({ seq }) => seq);
}

test('it is shown at the first step of its job, and later', () => {
  expect(shown(3, 3)).toEqual([3]);
  expect(shown(3, 5)).toEqual([3, 8, 9]);
});

test('a summary that covers its answer replaces it', () => {
  expect(shown(8, 5)).toEqual([9]);
});
