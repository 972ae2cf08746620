/** Any history, whoever made it and however it was broken off, becomes a request that its provider accepts. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Block } from '../../src/core/blocks.ts';
import type { Json, JsonObject } from '../../src/core/json.ts';
import type { Message, MessageRole } from '../../src/core/message.ts';
import { assemble } from '../../src/core/prompt.ts';
import { writeRequest as writeMessages } from '../../src/llm/anthropic/request.ts';
import { writeRequest as writeChat } from '../../src/llm/openai-chat/request.ts';
import { writeRequest as writeResponses } from '../../src/llm/openai/request.ts';
import { objectsIn, stringIn } from '../../src/llm/wire/json.ts';
import { wellFormed } from '../../src/llm/wire/well-formed.ts';
import { callId, message, request, user } from './calling.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', ' \n', '\ud800', '\u0000'),
);
const data: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ type: fc.constant('thinking'), signature: fc.string() }),
  fc.record({ type: fc.constant('redacted_thinking'), data: fc.string() }),
  fc.record({
    type: fc.constant('reasoning'),
    id: fc.string(),
    encrypted_content: fc.constantFrom('sealed', ''),
  }),
  fc.record({ type: fc.constant('web_search_call'), id: fc.constantFrom('ws_1', 'ws_2') }),
  fc.constant({ field: 'reasoning_content' }),
);
const opaque = (inner: fc.Arbitrary<JsonObject>) =>
  fc.record({ name: fc.constantFrom('anthropic', 'openai', 'openai-chat', 'gone'), data: inner });
const theirId = fc.oneof(fc.string(), fc.constantFrom('call_0', 'toolu_1', 'ünüsable', 'x'.repeat(80)));
const callData = fc.record({
  type: fc.constant('tool_use'),
  id: theirId,
  call_id: theirId,
  arguments: fc.constantFrom('{ }', '{"a": 1}', '{'),
});

type Draft = { role: MessageRole; content: Block[] };

const textBlock = text.map((words): Block => ({ type: 'text', text: words }));
const thinking = fc
  .record({ type: fc.constant('thinking' as const), text, provider: opaque(data) })
  .map((block): Block => block);
const image = fc.constant<Block>({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'aQ==' },
});
const call = fc
  .record({ name: text, input: fc.jsonValue(), provider: opaque(callData) })
  .map((block): Block => ({ ...block, type: 'tool_use', id: callId(0), input: block.input as Json }));
const draft: fc.Arbitrary<Draft> = fc.oneof(
  fc
    .array(fc.oneof(textBlock, image), { maxLength: 3 })
    .map((content) => ({ role: 'user' as const, content })),
  fc.array(textBlock, { maxLength: 1 }).map((content) => ({ role: 'system' as const, content })),
  fc
    .array(fc.oneof(textBlock, thinking, call), { maxLength: 5 })
    .map((content) => ({ role: 'assistant' as const, content })),
);
const history = fc
  .tuple(fc.array(draft, { maxLength: 10 }), fc.infiniteStream(fc.tuple(fc.boolean(), text)))
  .map(([drafts, answers]) => withResults(drafts, answers));

/** Gives calls ids of their own, and some of them results; which history lacks, the prompt makes up. */
function withResults(drafts: Draft[], answers: Iterator<[boolean, string]>): Message[] {
  let count = 0;
  const entries = drafts.flatMap(({ role, content }) => {
    const blocks = content.map((block): Block =>
      block.type === 'tool_use' ? { ...block, id: callId(++count) } : block,
    );
    const results = blocks.flatMap((block): { role: MessageRole; content: Block[] }[] => {
      const [answered, words] = answers.next().value as [boolean, string];
      if (block.type !== 'tool_use' || !answered) return [];
      const content: Block = { type: 'tool_result', tool_use_id: block.id, content: words, is_error: false };
      return [{ role: 'tool', content: [content] }];
    });
    return [{ role, content: blocks }, ...results];
  });
  return entries.map(message);
}

/** What every provider asks of a conversation, told in one form. */
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

describe('any history becomes a valid request', () => {
  test('of Messages', () => {
    fc.assert(
      fc.property(history, (entries) => {
        const params = writeMessages(wellFormed(request('anthropic', { messages: assemble(entries) })));
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
            const results = blocks.flatMap((block) =>
              block.type === 'tool_result' ? [block.tool_use_id] : [],
            );
            // Results stand before anything else.
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
        expect(JSON.stringify(params)).not.toMatch(/\\ud[89a-f]/);
      }),
    );
  });

  test('of Chat Completions', () => {
    fc.assert(
      fc.property(history, (entries) => {
        const { messages } = writeChat(
          wellFormed(request('openai-chat', { messages: assemble(entries) })),
          false,
        );
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
      }),
    );
  });

  test('of Responses', () => {
    fc.assert(
      fc.property(history, (entries) => {
        const params = writeResponses(wellFormed(request('openai', { messages: assemble(entries) })));
        const items = objectsIn(JSON.parse(JSON.stringify(params)) as JsonObject, 'input');
        const ids = items.map((item) => stringIn(item, 'id')).filter((id) => id !== '');
        expect(new Set(ids).size).toBe(ids.length);
        const calls = items
          .filter((item) => item['type'] === 'function_call')
          .map((item) => stringIn(item, 'call_id'));
        const outputs = items.filter((item) => item['type'] === 'function_call_output');
        expect(new Set(calls).size).toBe(calls.length);
        expect(outputs.map((item) => stringIn(item, 'call_id'))).toEqual(calls);
        for (const id of calls) expect(id).toMatch(/^[\x21-\x7e]{1,64}$/);
        for (const item of items) {
          expect(stringIn(item, 'type')).not.toBe('');
          if (item['type'] === 'function_call')
            expect(JSON.parse(stringIn(item, 'arguments'))).toBeTypeOf('object');
          if (item['type'] === 'reasoning') expect(stringIn(item, 'encrypted_content')).not.toBe('');
        }
        for (const [index, item] of items.entries()) {
          // After a call come the rest of its answer, then all results, before anything a user says.
          if (item['role'] !== 'user') continue;
          const before = items.slice(0, index);
          const called = before.filter((one) => one['type'] === 'function_call').length;
          expect(before.filter((one) => one['type'] === 'function_call_output').length).toBe(called);
        }
      }),
    );
  });

  test('and mapping it twice gives the same to the letter, which caches depend on', () => {
    fc.assert(
      fc.property(history, (entries) => {
        const asked = wellFormed(request('openai', { messages: assemble(entries) }));
        const longer = { ...asked, messages: [...asked.messages, user('More.')] };
        const [a, b] = [writeResponses(asked), writeResponses(longer)].map((params) =>
          JSON.stringify(params.input),
        );
        const last = asked.messages.at(-1);
        if (last?.role === 'assistant') expect(b?.startsWith(a?.slice(0, -1) ?? '')).toBe(true);
      }),
    );
  });
});
