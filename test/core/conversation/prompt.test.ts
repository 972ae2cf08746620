// From any history, sound or not, to a prompt that every provider accepts.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Block } from '../../../src/core/conversation/blocks.ts';
import type { CompactionId, ToolCallId } from '../../../src/core/ids.ts';
import type { Message } from '../../../src/core/conversation/message.ts';
import { assemble, type PromptMessage } from '../../../src/core/conversation/prompt.ts';
import { JOB, assistantMessage, id, text, toolMessage, toolUse, userMessage } from '../builders.ts';

/** One line for each message: the role's first letter and its blocks. */
function outline(prompt: readonly PromptMessage[]): string[] {
  return prompt.map(({ role, content }) => {
    const blocks: readonly Block[] = content;
    return `${role}: ${blocks.map(blockOutline).join(' ')}`;
  });
}

function blockOutline(block: Block): string {
  switch (block.type) {
    case 'text':
    case 'thinking':
      return block.text;
    case 'tool_use':
      return `→${Number.parseInt(block.id.slice(-4), 16)}`;
    case 'tool_result':
      return `←${Number.parseInt(block.tool_use_id.slice(-4), 16)}`;
    case 'image':
    case 'document':
      return block.type;
  }
}

const asks = (...numbers: number[]) => assistantMessage(3, { content: numbers.map((number) => toolUse(number)) });
const result = (number: number) => toolMessage(4, id<ToolCallId>(number));
const user = (...words: string[]) => userMessage(1, { content: words.map(text) });
const answers = (words: string) => assistantMessage(2, { content: [text(words)] });
const note = (words: string) => userMessage(1, { role: 'system', content: [text(words)] });

describe('behind a summary', () => {
  const summary = (uptoSeq: number) => ({
    summary: { id: id<CompactionId>(1), seq: 9, uptoSeq, jobId: JOB, tokensAfter: 1, text: 's' },
    shortening: null,
  });
  const last = (history: Message[], uptoSeq: number) => outline(assemble(history, summary(uptoSeq))).at(-1);
  const asked = userMessage(5, { seq: 5, content: [text('owed')] });
  const noted = userMessage(6, { seq: 6, role: 'system', content: [text('n')] });

  test('an input that is still to be answered is shown, though the summary covers it', () => {
    expect(last([asked], 5)).toMatch(/^user: .* owed$/s);
    expect(last([asked, noted], 5)).toMatch(/ owed /s);
  });

  test('an answered input is not shown', () => {
    const answered = assistantMessage(6, { seq: 6, content: [text('a')] });
    expect(last([asked, answered], 6)).not.toMatch(/owed/);
    expect(last([asked, answered], 5)).toBe('assistant: a');
    expect(last([asked, userMessage(6, { seq: 6, content: [text('next')] })], 5)).not.toMatch(/owed/);
  });
});

describe('histories', () => {
  test.each<[string, Message[], string[]]>([
    ['nothing is nothing', [], []],
    ['a question and its answer', [user('hi'), answers('hello')], ['user: hi', 'assistant: hello']],
    ['inputs in a row are one', [user('a'), user('b')], ['user: a b']],
    ['answers in a row are one', [user('a'), answers('b'), answers('c')], ['user: a', 'assistant: b c']],
    ['an answer at the beginning gets an opening', [answers('a')], [expect.stringMatching(/^user: /), 'assistant: a']],
    [
      'results in the order they came are put in the order of the calls',
      [user('a'), asks(1, 2), result(2), result(1)],
      ['user: a', 'assistant: →1 →2', 'user: ←1 ←2'],
    ],
    [
      'an input behind results follows them',
      [user('a'), asks(1), result(1), user('b')],
      ['user: a', 'assistant: →1', 'user: ←1 b'],
    ],
    [
      'an input in between follows them all the same',
      [user('a'), asks(1), user('b'), result(1)],
      ['user: a', 'assistant: →1', 'user: ←1 b'],
    ],
    [
      'a call without a result gets one by rule',
      [user('a'), asks(1), user('b')],
      ['user: a', 'assistant: →1', 'user: ←1 b'],
    ],
    [
      'a second result of a call is dropped',
      [user('a'), asks(1), result(1), result(1)],
      ['user: a', 'assistant: →1', 'user: ←1'],
    ],
    ['a result without a call is dropped', [user('a'), result(9), answers('b')], ['user: a', 'assistant: b']],
    ['a note of the platform is marked', [note('careful')], ['user: <system-note>careful</system-note>']],
    ['empty text is left out', [user('a', ''), answers(''), user('')], ['user: a']],
  ])('%s', (_, history, expected) => {
    expect(outline(assemble(history))).toEqual(expected);
  });

  test('a missing result is an error that says so', () => {
    expect(assemble([user('a'), asks(1)]).at(-1)).toEqual({
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: id(1),
          content: 'No result was recorded for this call.',
          is_error: true,
        },
      ],
    });
  });

  test('data that a provider requires verbatim stays on its block', () => {
    const thinking: Block = {
      type: 'thinking',
      text: '',
      provider: { name: 'anthropic', data: { signature: 's' } },
    };
    const prompt = assemble([user('a'), assistantMessage(2, { content: [thinking, text('b')] })]);
    expect(prompt.at(-1)?.content[0]).toEqual(thinking);
  });

  test('each role keeps only the blocks it may have', () => {
    const strange = userMessage(1, { content: [toolUse(1), { type: 'thinking', text: 't' }, text('a')] });
    expect(outline(assemble([strange]))).toEqual(['user: a']);
  });
});

const someText = fc.constantFrom('', 'a', 'b');
const someBlock: fc.Arbitrary<Block> = fc.oneof(
  someText.map(text),
  fc.constant<Block>({ type: 'thinking', text: '' }),
  fc.constant<Block>({ type: 'image', source: { type: 'url', url: 'u' } }),
);

/** Any history that could be stored: calls with ids of their own, results of any call, in any order. */
const someHistory = fc
  .array(
    fc.record({
      role: fc.constantFrom('user', 'assistant', 'tool', 'system'),
      blocks: fc.array(someBlock, { maxLength: 2 }),
      calls: fc.nat(3),
      of: fc.nat(12),
    }),
    { maxLength: 12 },
  )
  .map((entries) => {
    let calls = 0;
    return entries.map(({ role, blocks, calls: asked, of }, seq): Message => {
      if (role === 'tool') return toolMessage(seq, id<ToolCallId>(of + 1));
      if (role !== 'assistant') return userMessage(seq, { role: role === 'user' ? 'user' : 'system', content: blocks });
      const uses = Array.from({ length: asked }, () => toolUse((calls += 1)));
      return assistantMessage(seq, { content: [...blocks, ...uses] });
    });
  });

function assertForAll(check: (prompt: PromptMessage[], history: Message[]) => void): void {
  fc.assert(
    fc.property(someHistory, (history) => check(assemble(history), history)),
    { numRuns: 1_000 },
  );
}

test('an old message is the same object at every call, so that it need not be converted again', () => {
  const old = [user('a'), asks(1), result(1), answers('b')];
  const [before, after] = [assemble(old), assemble([...old, user('c')])];
  expect(after).toHaveLength(before.length + 1);
  before.forEach((message, index) => expect(after[index]).toBe(message));
});

describe('for any history', () => {
  test('roles alternate, beginning with the user', () => {
    assertForAll((prompt) => {
      prompt.forEach(({ role }, index) => expect(role).toBe(index % 2 === 0 ? 'user' : 'assistant'));
    });
  });

  test('every call is answered exactly once, in the very next message, in order, before any other block', () => {
    assertForAll((prompt) => {
      const answered = new Set<ToolCallId>();
      prompt.forEach(({ role, content }, index) => {
        if (role !== 'assistant') return;
        const asked = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
        const next: readonly Block[] = prompt[index + 1]?.content ?? [];
        const results = next.slice(0, asked.length);
        expect(results.map((block) => (block.type === 'tool_result' ? block.tool_use_id : null))).toEqual(asked);
        for (const call of asked) answered.add(call);
      });
      const results = prompt.flatMap(({ content }) =>
        [...content].flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : [])),
      );
      expect(results.sort()).toEqual([...answered].sort());
    });
  });

  test('an earlier assembly of the same messages makes no difference and is not changed', () => {
    const some = fc.tuple(someHistory, fc.nat(), fc.nat());
    fc.assert(
      fc.property(some, ([history, from, to]) => {
        const before = assemble(history.slice(from % (history.length + 1), to % (history.length + 1)));
        const as = structuredClone(before);
        expect(assemble(history)).toEqual(assemble(structuredClone(history)));
        expect(before).toEqual(as);
      }),
      { numRuns: 500 },
    );
  });

  test('no message is empty and no content is missing', () => {
    assertForAll((prompt, history) => {
      for (const { content } of prompt) {
        expect(content).not.toEqual([]);
        for (const block of content) if (block.type === 'text') expect(block.text).not.toBe('');
      }
      const calls = (messages: readonly { content: readonly Block[] }[]) =>
        messages.flatMap(({ content }) => content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])));
      expect(calls(prompt)).toEqual(calls(history));
      const visible = history
        .filter(({ role }) => role === 'assistant')
        .flatMap(({ content }) => content.filter((block) => block.type === 'text' && block.text !== ''));
      expect(prompt.flatMap(({ role, content }) => (role === 'assistant' ? [...content] : [])).filter(isText)).toEqual(
        visible,
      );
    });
  });

  test('history itself is not changed', () => {
    fc.assert(
      fc.property(someHistory, (history) => {
        const before = structuredClone(history);
        assemble(history);
        expect(history).toEqual(before);
      }),
    );
  });

  test('a longer history begins with the same messages as the shorter one, so that caches match', () => {
    fc.assert(
      fc.property(someHistory, (history) => {
        const closed = history.filter(({ role }) => role !== 'tool' && role !== 'assistant');
        const shorter = assemble(closed);
        const longer = assemble([...closed, answers('z')]);
        expect(longer.slice(0, shorter.length)).toEqual(shorter);
      }),
    );
  });
});

function isText(block: Block): boolean {
  return block.type === 'text';
}
