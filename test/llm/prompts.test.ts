/** Any history, of any model and broken off at any point, becomes a request that its provider accepts. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Block } from '../../src/core/conversation/blocks.ts';
import type { Json, JsonObject } from '../../src/core/json.ts';
import type { Message, MessageRole } from '../../src/core/conversation/message.ts';
import type { ModelRequest } from '../../src/core/model/model.ts';
import { assemble } from '../../src/core/conversation/prompt.ts';
import { writeRequest as writeMessages } from '../../src/llm/anthropic/request.ts';
import { writeRequest as writeChat } from '../../src/llm/openai-chat/request.ts';
import { writeRequest as writeResponses } from '../../src/llm/openai/request.ts';
import { wellFormed, wellFormedRequest } from '../../src/llm/wire/request/well-formed.ts';
import { callId, message, request, user } from './model-calls.ts';
import { expectChat, expectMessages, expectResponses } from './valid-requests.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', ' \n', '\ud800', '\\ud800', '\u0000'),
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
  fc.array(fc.oneof(textBlock, image), { maxLength: 3 }).map((content) => ({ role: 'user' as const, content })),
  fc.array(textBlock, { maxLength: 1 }).map((content) => ({ role: 'system' as const, content })),
  fc
    .array(fc.oneof(textBlock, thinking, call), { maxLength: 5 })
    .map((content) => ({ role: 'assistant' as const, content })),
);
const history = fc
  .tuple(fc.array(draft, { maxLength: 10 }), fc.infiniteStream(fc.tuple(fc.boolean(), text)))
  .map(([drafts, answers]) => withResults(drafts, answers));

/** Gives calls ids of their own, and some of them results; the prompt fills in the missing ones. */
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

test.each([
  ['Messages', (asked: ModelRequest) => writeMessages(asked).messages],
  ['Chat Completions', (asked: ModelRequest) => writeChat(asked, true).messages],
  ['Responses', (asked: ModelRequest) => writeResponses(asked).input],
])('%s: an earlier conversion of the same messages makes no difference', (_, write) => {
  const written = (entries: readonly Message[]) =>
    write(wellFormedRequest(request('openai', { messages: assemble(entries) })));
  fc.assert(
    fc.property(history, fc.nat(), (entries, from) => {
      // A call of the same name may be missing before: later ones then have other ids.
      written(entries.slice(from % (entries.length + 1)));
      expect(written(entries)).toEqual(written(structuredClone(entries)));
    }),
  );
});

describe('any history becomes a valid request', () => {
  test.each([
    ['Messages', expectMessages],
    ['Chat Completions', expectChat],
    ['Responses', expectResponses],
  ])('of %s', (_, expectValid) => {
    fc.assert(fc.property(history, (entries) => expectValid(assemble(entries))));
  });

  test('and mapping it twice gives byte-equal results, which caches depend on', () => {
    fc.assert(
      fc.property(history, (entries) => {
        const asked = wellFormed(request('openai', { messages: assemble(entries) }));
        const longer = { ...asked, messages: [...asked.messages, user('More.')] };
        const [a, b] = [writeResponses(asked), writeResponses(longer)].map((params) => JSON.stringify(params.input));
        const last = asked.messages.at(-1);
        if (last?.role === 'assistant') expect(b?.startsWith(a?.slice(0, -1) ?? '')).toBe(true);
      }),
    );
  });
});
