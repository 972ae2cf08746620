// An answer that was cut off while it was thinking must not make every later request fail.
import { describe, expect, test } from 'vitest';
import type { AssistantBlock, PromptMessage } from '../../src/core/conversation/prompt.ts';
import { writeMessages } from '../../src/llm/anthropic/request.ts';
import { writeInput } from '../../src/llm/openai/request.ts';

const user = (text: string): PromptMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const assistant = (...content: AssistantBlock[]): PromptMessage => ({ role: 'assistant', content });

describe('thinking without a result', () => {
  const thought: AssistantBlock = {
    type: 'thinking',
    text: 'hm',
    provider: { name: 'anthropic', data: { type: 'thinking', thinking: 'hm', signature: 's' } },
  };

  test('is left out at the end of an answer, and kept before text', () => {
    const kept: AssistantBlock = { type: 'text', text: 'yes' };
    const messages = writeMessages([user('a'), assistant(thought, kept, thought), user('b')]);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(messages[1]?.content).toMatchObject([{ type: 'thinking' }, { type: 'text', text: 'yes' }]);
  });

  test('is removed together with an answer that was nothing else, and roles still alternate', () => {
    const messages = writeMessages([user('a'), assistant(thought), user('b')]);
    expect(messages.map(({ role }) => role)).toEqual(['user']);
  });

  test('is left out of a Responses request as well', () => {
    const reasoning: AssistantBlock = {
      type: 'thinking',
      text: '',
      provider: {
        name: 'openai',
        data: { type: 'reasoning', id: 'rs_1', encrypted_content: 'x', summary: [] },
      },
    };
    const items = writeInput([user('a'), assistant(reasoning), user('b')]);
    expect(items.map((item) => ('type' in item ? item.type : null))).not.toContain('reasoning');
  });
});
