// The rules of every provider for a conversation, checked on a prompt in each wire format.
import { expect } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import type { PromptMessage } from '../../src/core/conversation/prompt.ts';
import { writeRequest as writeMessages } from '../../src/llm/anthropic/request.ts';
import { writeRequest as writeChat } from '../../src/llm/openai-chat/request.ts';
import { writeRequest as writeResponses } from '../../src/llm/openai/request.ts';
import { objectsIn, stringIn } from '../../src/llm/wire/answer/json.ts';
import { wellFormed } from '../../src/llm/wire/request/well-formed.ts';
import { request } from './model-calls.ts';

/** A conversation, in one common form. */
type Spoken = { role: 'user' | 'assistant'; calls: string[]; results: string[]; empty: boolean };

function check(messages: Spoken[]): void {
  const ids = messages.flatMap((one) => one.calls);
  expect(new Set(ids).size).toBe(ids.length);
  for (const [index, one] of messages.entries()) {
    expect(one.role).toBe(index % 2 === 0 ? 'user' : 'assistant');
    expect(one.empty).toBe(false);
    expect(one.results).toEqual(messages[index - 1]?.calls ?? []);
  }
  expect(messages.at(-1)?.calls ?? []).toEqual([]);
}

/** By `expect`. */
export function expectMessages(messages: PromptMessage[]): void {
  const params = writeMessages(wellFormed(request('anthropic', { messages })));
  check(
    params.messages.map(({ role, content }) => {
      const blocks = typeof content === 'string' ? [] : content;
      for (const block of blocks) {
        if (block.type === 'text') expect(block.text.trim()).not.toBe('');
        if (block.type === 'tool_use') {
          expect(block.id).toMatch(/^[a-zA-Z0-9_-]+$/);
          expect(block.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
          expect(block.input).toBeTypeOf('object');
        }
      }
      const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
      // Results come before any other block.
      expect(blocks.slice(0, results.length).every((block) => block.type === 'tool_result')).toBe(true);
      return {
        role: role === 'assistant' ? 'assistant' : 'user',
        calls: blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])),
        results,
        empty: blocks.length === 0,
      };
    }),
  );
  expect(JSON.stringify(params).isWellFormed()).toBe(true);
  // As JSON writes half of a pair. A backslash in the text is written as two.
  expect(JSON.stringify(params)).not.toMatch(/(?<!\\)(\\\\)*\\ud[89a-f]/);
}

/** By `expect`. */
export function expectChat(prompt: PromptMessage[]): void {
  const { messages } = writeChat(wellFormed(request('openai-chat', { messages: prompt })), false);
  const spoken: Spoken[] = [];
  for (const one of messages) {
    const last = spoken.at(-1);
    if (one.role === 'tool') {
      if (last?.role === 'user') last.results.push(one.tool_call_id);
      else spoken.push({ role: 'user', calls: [], results: [one.tool_call_id], empty: false });
    } else if (one.role === 'assistant') {
      const calls = (one.tool_calls ?? []).map((each) => each.id);
      for (const id of calls) expect(id).toMatch(/^[\x21-\x7e]{1,64}$/);
      for (const each of one.tool_calls ?? []) {
        if (each.type === 'function') expect(JSON.parse(each.function.arguments)).toBeTypeOf('object');
      }
      spoken.push({
        role: 'assistant',
        calls,
        results: [],
        empty: calls.length === 0 && one.content === '',
      });
    } else if (last?.role === 'user' && last.results.length > 0) {
      expect(one.role).toBe('user');
    } else spoken.push({ role: 'user', calls: [], results: [], empty: one.content === '' });
  }
  check(spoken);
}

/** By `expect`. */
export function expectResponses(messages: PromptMessage[]): void {
  const params = writeResponses(wellFormed(request('openai', { messages })));
  const items = objectsIn(JSON.parse(JSON.stringify(params)) as JsonObject, 'input');
  const ids = items.map((item) => stringIn(item, 'id')).filter((id) => id !== '');
  expect(new Set(ids).size).toBe(ids.length);
  const calls = items.filter((item) => item['type'] === 'function_call').map((item) => stringIn(item, 'call_id'));
  const outputs = items.filter((item) => item['type'] === 'function_call_output');
  expect(new Set(calls).size).toBe(calls.length);
  expect(outputs.map((item) => stringIn(item, 'call_id'))).toEqual(calls);
  for (const id of calls) expect(id).toMatch(/^[\x21-\x7e]{1,64}$/);
  for (const item of items) {
    expect(stringIn(item, 'type')).not.toBe('');
    if (item['type'] === 'function_call') expect(JSON.parse(stringIn(item, 'arguments'))).toBeTypeOf('object');
    if (item['type'] === 'reasoning') expect(stringIn(item, 'encrypted_content')).not.toBe('');
  }
  for (const [index, item] of items.entries()) {
    // After a call come the rest of its answer, then all results, before any other block of a user.
    if (item['role'] !== 'user') continue;
    const before = items.slice(0, index);
    const called = before.filter((one) => one['type'] === 'function_call').length;
    expect(before.filter((one) => one['type'] === 'function_call_output').length).toBe(called);
  }
}
