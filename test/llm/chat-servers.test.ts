/** Chat Completions as compatible servers really send it: each recording shows one difference. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isToolUse, textOf } from '../../src/core/conversation/blocks.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { createModels } from '../../src/llm/models.ts';
import {
  answerOf,
  ask,
  callId,
  countingIds,
  failureOf,
  modelFor,
  modelsFor,
  promptOf,
  request,
  recorder,
} from './model-calls.ts';
import { startFakeProvider, type FakeProvider } from './fake-provider.ts';

let fake: FakeProvider;
beforeAll(async () => {
  fake = await startFakeProvider();
});
afterAll(() => fake.close());

const chunk = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
  id: 'c1',
  model: 'local',
  choices: [{ index: 0, delta, finish_reason }],
});
const call = (part: JsonObject): JsonObject => chunk({ tool_calls: [part] });

async function stream(...events: (JsonObject | string)[]) {
  fake.answer({ recorded: { events } });
  return await ask(modelFor(modelsFor(fake), 'openai-chat'), request('openai-chat'));
}

async function callsOf(...events: JsonObject[]) {
  const answer = answerOf(await stream(...events));
  return answer.content.filter(isToolUse).map(({ name, input }) => [name, input]);
}

describe('tool calls', () => {
  const both = [
    ['a', { x: 1 }],
    ['b', { y: 2 }],
  ];

  test('without an index are separated by id', async () => {
    expect(
      await callsOf(
        call({ id: '1', function: { name: 'a', arguments: '{"x"' } }),
        call({ id: '2', function: { name: 'b', arguments: '{"y"' } }),
        call({ id: '1', function: { arguments: ':1}' } }),
        call({ id: '2', function: { arguments: ':2}' } }),
        chunk({}, 'tool_calls'),
      ),
    ).toEqual(both);
  });

  test('without index and id: a name begins a call, the rest belongs to the last', async () => {
    expect(
      await callsOf(
        call({ function: { name: 'a', arguments: '{"x":' } }),
        call({ function: { arguments: '1}' } }),
        call({ function: { name: 'b', arguments: '{"y":2}' } }),
        chunk({}, 'tool_calls'),
      ),
    ).toEqual(both);
  });

  test('all numbered 0, with ids of their own, are separated', async () => {
    expect(
      await callsOf(
        call({ index: 0, id: '1', function: { name: 'a', arguments: '{"x":1}' } }),
        call({ index: 0, id: '2', function: { name: 'b', arguments: '{"y":2}' } }),
        chunk({}, 'stop'),
      ),
    ).toEqual(both);
  });

  test('with id and name in every part, arguments as an object, and an unknown finish are read', async () => {
    expect(
      await callsOf(
        call({ index: 0, id: '1', function: { name: 'a', arguments: '{"x":' } }),
        call({ index: 0, id: '1', function: { name: 'a', arguments: '1}' } }),
        call({ index: 1, id: '2', function: { name: 'b', arguments: { y: 2 } } }),
        chunk({}, 'eos'),
      ),
    ).toEqual(both);
  });

  test('in the old function_call are read', async () => {
    expect(
      await callsOf(
        chunk({ function_call: { name: 'a', arguments: '{"x":' } }),
        chunk({ function_call: { arguments: '1}' } }, 'function_call'),
      ),
    ).toEqual([['a', { x: 1 }]]);
  });

  test('with `stop` as the finish reason are still calls', async () => {
    const outcome = await stream(
      call({ index: 0, id: '1', function: { name: 'a', arguments: '' } }),
      chunk({}, 'stop'),
    );
    expect(answerOf(outcome)).toMatchObject({
      finishReason: 'tool_use',
      content: [{ id: callId(1), input: {} }],
    });
  });

  test('have a signature that is sent back with them', async () => {
    const extra_content = { google: { thought_signature: 'sealed' } };
    const answer = answerOf(
      await stream(
        call({ index: 0, id: '1', function: { name: 'a', arguments: '{}' }, extra_content }),
        chunk({}, 'tool_calls'),
      ),
    );
    await ask(
      modelFor(modelsFor(fake), 'openai-chat'),
      request('openai-chat', { messages: promptOf({ role: 'assistant', content: answer.content }) }),
    );
    expect(fake.requests.at(-1)?.body['messages']).toContainEqual({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: '1', type: 'function', function: { name: 'a', arguments: '{}' }, extra_content }],
    });
  });
});

describe('reasoning', () => {
  test.each(['reasoning_content', 'reasoning'])(
    'as %s is sent back under that name, but only with tool calls',
    async (field) => {
      const answer = answerOf(
        await stream(
          chunk({ [field]: 'Hm' }),
          chunk({ [field]: 'm.' }),
          call({ index: 0, id: '1', function: { name: 'a', arguments: '{}' } }),
          chunk({}, 'tool_calls'),
        ),
      );
      expect(answer.content[0]).toMatchObject({ type: 'thinking', text: 'Hmm.' });
      const thought = answer.content.slice(0, 1);
      const messages = promptOf(
        { role: 'user', content: [{ type: 'text', text: 'a' }] },
        { role: 'assistant', content: [...thought, { type: 'text', text: 'b' }] },
        { role: 'user', content: [{ type: 'text', text: 'c' }] },
        { role: 'assistant', content: answer.content },
      );
      await ask(modelFor(modelsFor(fake), 'openai-chat'), request('openai-chat', { messages }));
      const sent = fake.requests.at(-1)?.body['messages'];
      expect(sent).toMatchObject([
        { role: 'user' },
        { role: 'assistant' },
        { role: 'user' },
        { [field]: 'Hmm.' },
        { role: 'tool' },
      ]);
      expect(JSON.stringify(sent).match(/Hmm\./g)?.length).toBe(1);
    },
  );

  test('sent under both names is read once', async () => {
    fake.answer({
      recorded: {
        events: [chunk({ reasoning: 'Hm.', reasoning_content: 'Hm.' }), chunk({ content: 'Yes.' }, 'stop')],
      },
    });
    const deltas = recorder();
    const answer = answerOf(await ask(modelFor(modelsFor(fake), 'openai-chat'), request('openai-chat'), deltas));
    expect(deltas.thinking).toEqual(['Hm.']);
    expect(answer.content.map((block) => block.type)).toEqual(['thinking', 'text']);
  });
});

describe('the end of an answer', () => {
  test('may lack a finish reason, but not [DONE]', async () => {
    expect(answerOf(await stream(chunk({ content: 'Hi' })))).toMatchObject({ finishReason: 'stop' });
  });

  test('without any usage counts no tokens', async () => {
    expect(answerOf(await stream(chunk({ content: 'Hi' }, 'stop'))).usage).toMatchObject({ input_tokens: 0 });
  });

  test('may have the usage in its last chunk', async () => {
    const last = { ...chunk({}, 'stop'), usage: { prompt_tokens: 3, completion_tokens: 4 } };
    expect(answerOf(await stream(chunk({ content: 'Hi' }), last)).usage).toMatchObject({
      input_tokens: 3,
      output_tokens: 4,
    });
  });

  test('is missing where [DONE] comes without any choice', async () => {
    expect(failureOf(await stream({ id: 'c1', choices: [] }))).toMatchObject({ class: 'stream_interrupted' });
  });

  test.each(['stall', 'reset', 'cut'] as const)('is not lost by a %s after the finish reason', async (kind) => {
    // Head, delta, finish: the usage and [DONE] never come.
    fake.answer({ text: 'Complete', fault: { kind, after: 3 } });
    const models = modelsFor(fake, kind === 'stall' ? { idleTimeoutMs: 3_000 } : {});
    const outcome = await ask(modelFor(models, 'openai-chat'), request('openai-chat'));
    expect(textOf(answerOf(outcome).content)).toBe('Complete');
  });

  test('may have content in parts, and comments as heartbeats', async () => {
    const parts = {
      content: [
        { type: 'text', text: 'Hel' },
        { type: 'text', text: 'lo' },
      ],
    };
    expect(textOf(answerOf(await stream(chunk(parts, 'stop'))).content)).toBe('Hello');
  });

  test('may be an error in place of a chunk', async () => {
    const error = { code: 429, message: 'Slow down, please' };
    expect(failureOf(await stream(chunk({ content: 'Hi' }), { error }))).toMatchObject({
      class: 'rate_limited',
    });
    expect(failureOf(await stream({ error: 'out of memory' }))).toMatchObject({ class: 'server_error' });
  });

  test('may be an error with status 200', async () => {
    fake.answer({
      recorded: { whole: { error: { message: 'context_length_exceeded', code: 'context_length_exceeded' } } },
    });
    const outcome = await ask(modelFor(modelsFor(fake), 'openai-chat'), request('openai-chat', { streaming: false }));
    expect(failureOf(outcome)).toMatchObject({ class: 'prompt_too_long' });
  });

  test('by the content filter is a refusal', async () => {
    expect(failureOf(await stream(chunk({}, 'content_filter')))).toMatchObject({ class: 'refused' });
  });
});

describe('a local server', () => {
  test('needs no key: no authorization is sent, and the old field names are used', async () => {
    const models = createModels({
      openai: { baseURL: fake.openaiURL },
      idleTimeoutMs: 50_000,
      ids: countingIds(),
    });
    expect(models.configured).toEqual(['openai-chat', 'simulated']);
    expect(models.for('openai')).toBeNull();
    expect(models.for('anthropic')).toBeNull();
    fake.answer({ text: 'Hi' });
    answerOf(await ask(modelFor(models, 'openai-chat'), request('openai-chat', { maxTokens: 5 })));
    const seen = fake.requests.at(-1);
    expect(seen?.headers.authorization).toBeUndefined();
    expect(seen?.body).toMatchObject({ max_tokens: 5, stream_options: { include_usage: true } });
    expect(seen?.body).not.toHaveProperty('prompt_cache_key');
  });

  test('gets alternating roles where reasoning alone was an answer', async () => {
    fake.answer({ text: 'Hi' });
    const messages = promptOf(
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      { role: 'assistant', content: [{ type: 'thinking', text: 'hm' }] },
      { role: 'user', content: [{ type: 'text', text: 'b' }] },
    );
    await ask(modelFor(modelsFor(fake), 'openai-chat'), request('openai-chat', { messages }));
    expect(fake.requests.at(-1)?.body['messages']).toEqual([{ role: 'user', content: 'a\n\nb' }]);
  });
});
