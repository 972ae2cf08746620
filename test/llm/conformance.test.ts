/**
 * One suite for all providers: the real SDKs over HTTP against a fake, streamed and whole. The agent loop must see the
 * same behaviour of every provider.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isToolUse, textOf, type Block } from '../../src/core/conversation/blocks.ts';
import type { Price } from '../../src/core/money/cost.ts';
import type { FailureClass, ModelRequest, ProviderName } from '../../src/core/model/model.ts';
import type { Models } from '../../src/llm/models.ts';
import {
  KEY,
  answerOf,
  ask,
  callId,
  failureOf,
  modelFor,
  modelsFor,
  promptOf,
  request,
  recorder,
  user,
} from './model-calls.ts';
import { lastInput, startFakeProvider, type FakeProvider, type FakeReply } from './fake-provider.ts';

const NASTY = 'NUL \u0000, a family 👨‍👩‍👧, and half of 😀: \ud83d; end';
const PROVIDER_NAMES = ['anthropic', 'openai', 'openai-chat'] as const;
const WAYS = [true, false] as const;
const PRICE: Price = { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000 };

describe.each(PROVIDER_NAMES)('%s', (provider) => {
  let fake: FakeProvider;
  let models: Models;
  beforeAll(async () => {
    fake = await startFakeProvider();
  });
  beforeEach(() => {
    models = modelsFor(fake, { prices: new Map([[`${provider}/test-model`, PRICE]]) });
  });
  afterAll(() => fake.close());

  const call = (given: Partial<ModelRequest> = {}, deltas = recorder(), signal?: AbortSignal) =>
    ask(modelFor(models, provider), request(provider, given), deltas, signal);
  const fail = async (reply: FakeReply, given: Partial<ModelRequest> = {}) => {
    fake.answer(reply);
    return failureOf(await call(given));
  };

  test('its SDK is loaded by the first call', async () => {
    const model = modelFor(models, provider);
    expect(model.isLoaded()).toBe(false);
    await call();
    expect(model.isLoaded()).toBe(true);
  });

  describe.each(WAYS)('streaming: %s', (streaming) => {
    test('an answer has text, usage, the model and the id of the response', async () => {
      const usage = { input: 100, output: 7, cacheRead: 50 };
      fake.answer({ text: 'Hello, night owl. 🦉', usage, model: 'served-model', id: 'response-1' });
      const deltas = recorder();
      const answer = answerOf(await call({ streaming }, deltas));
      expect(textOf(answer.content)).toBe('Hello, night owl. 🦉');
      expect(answer.usage).toEqual({
        input_tokens: 100,
        output_tokens: 7,
        cache_read_tokens: 50,
        cache_write_tokens: 0,
        // By the requested name, not by that of the model that answered.
        cost_nanos: 100 * 3_000 + 7 * 15_000 + 50 * 300,
      });
      expect(answer).toMatchObject({
        finishReason: 'stop',
        modelId: 'served-model',
        responseId: 'response-1',
      });
      expect(deltas.starts).toBe(1);
      expect(deltas.text.join('')).toBe(streaming ? 'Hello, night owl. 🦉' : '');
      expect(deltas.text.length > 1).toBe(streaming);
    });

    test('thinking is separate from text', async () => {
      fake.answer({ thinking: 'Let me see what night it is.', text: 'Tuesday.' });
      const deltas = recorder();
      const answer = answerOf(await call({ streaming }, deltas));
      expect(answer.content.map((block) => block.type)).toEqual(['thinking', 'text']);
      expect(answer.content[0]).toMatchObject({ text: 'Let me see what night it is.' });
      expect(deltas.thinking.join('')).toBe(streaming ? 'Let me see what night it is.' : '');
    });

    test('parallel tool calls get ids of ours, in order', async () => {
      fake.answer({
        text: 'Both.',
        toolCalls: [
          { name: 'weather', arguments: { city: 'Ulm' } },
          { name: 'time', arguments: {} },
        ],
      });
      const answer = answerOf(await call({ streaming }));
      const calls = answer.content.filter(isToolUse);
      expect(answer.finishReason).toBe('tool_use');
      expect(calls.map(({ id, name, input }) => ({ id, name, input }))).toEqual([
        { id: callId(1), name: 'weather', input: { city: 'Ulm' } },
        { id: callId(2), name: 'time', input: {} },
      ]);
    });

    test('arguments that are nested too deep are kept as text, and sent back as text', async () => {
      const deep = `{"a":${'['.repeat(2_000)}${']'.repeat(2_000)}}`;
      fake.answer({ toolCalls: [{ name: 'weather', arguments: deep }] });
      const answer = answerOf(await call({ streaming }));
      const input = answer.content.find(isToolUse)?.input;
      // A whole answer may have them parsed, in which case they are serialised again.
      expect(input).toEqual(expect.stringMatching(/^\{"a":\[+\]+\}$/));
      fake.answer({ text: 'Ok.' });
      await call({
        messages: promptOf(messageOf('user', 'Weather?'), { role: 'assistant', content: answer.content }),
      });
      const sent = fake.requests.at(-1)?.entries.flatMap((entry) => entry.calls) ?? [];
      expect(sent.map((one) => JSON.parse(one.arguments))).toEqual([{ malformed_arguments: input }]);
    });

    test('arguments that are not JSON stay the raw string, and are sent back wrapped', async () => {
      fake.answer({ toolCalls: [{ name: 'weather', arguments: '{"city": ' }] });
      const answer = answerOf(await call({ streaming }));
      expect(answer.content.find(isToolUse)?.input).toBe('{"city": ');
      fake.answer({ text: 'Ok.' });
      await call({
        messages: promptOf(messageOf('user', 'Weather?'), { role: 'assistant', content: answer.content }),
      });
      const sent = fake.requests.at(-1)?.entries.flatMap((entry) => entry.calls) ?? [];
      expect(sent.map((one) => JSON.parse(one.arguments))).toEqual([{ malformed_arguments: '{"city": ' }]);
    });

    test('the token limit is distinguished from a natural end', async () => {
      fake.answer({ text: 'And then', finish: 'max_tokens' });
      expect(answerOf(await call({ streaming })).finishReason).toBe('max_tokens');
    });

    test('a call that the token limit cut off before its arguments does not look like one without arguments', async () => {
      fake.answer({ toolCalls: [{ name: 'wipe_disk', arguments: '' }], finish: 'max_tokens' });
      const answer = answerOf(await call({ streaming }));
      expect(answer.content.find(isToolUse)?.input).toBe('');
    });

    test('a refusal is a failure that contains its text', async () => {
      const failure = await fail({ refusal: 'I will not help with that.' }, { streaming });
      expect(failure).toMatchObject({ class: 'refused', retryAfterMs: null });
      expect(failure.message).toContain('I will not help with that.');
    });

    test('NUL, lone surrogates and emoji come through in text and arguments', async () => {
      fake.answer({ text: NASTY, toolCalls: [{ name: 'keep', arguments: { [NASTY]: NASTY } }] });
      const deltas = recorder();
      const answer = answerOf(await call({ streaming }, deltas));
      expect(textOf(answer.content)).toBe(NASTY);
      expect(answer.content.find(isToolUse)?.input).toEqual({ [NASTY]: NASTY });
      if (streaming) expect(deltas.text.join('')).toBe(NASTY);
    });

    test('requests are well-formed: a lone surrogate becomes U+FFFD, all else is unchanged', async () => {
      fake.answer({ text: 'Ok.' });
      const messages = promptOf(
        messageOf('user', NASTY),
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: callId(1), name: 'keep', input: { [NASTY]: NASTY } }],
        },
        {
          role: 'tool',
          content: [{ type: 'tool_result', tool_use_id: callId(1), content: NASTY, is_error: false }],
        },
      );
      answerOf(await call({ streaming, system: NASTY, messages }));
      const mended = NASTY.toWellFormed();
      const entries = fake.requests.at(-1)?.entries ?? [];
      expect(entries.map((entry) => entry.text)).toEqual([mended, mended, '', mended]);
      expect(JSON.parse(entries[2]?.calls[0]?.arguments ?? '')).toEqual({ [mended]: mended });
    });

    test.each<{ name: string; reply: FakeReply; expected: FailureClass; retryAfterMs?: number }>([
      {
        name: '429 with Retry-After in seconds',
        reply: { status: 429, type: 'rate_limit_error', headers: { 'retry-after': '7' } },
        expected: 'rate_limited',
        retryAfterMs: 7_000,
      },
      {
        name: '429 with retry-after-ms',
        reply: { status: 429, type: 'tokens', headers: { 'retry-after-ms': '1250', 'retry-after': '2' } },
        expected: 'rate_limited',
        retryAfterMs: 1_250,
      },
      {
        name: '503 with Retry-After as a date',
        reply: {
          status: 503,
          headers: { date: 'Mon, 02 Nov 2026 10:00:00 GMT', 'retry-after': 'Mon, 02 Nov 2026 10:01:30 GMT' },
        },
        expected: 'overloaded',
        retryAfterMs: 90_000,
      },
      { name: '529', reply: { status: 529, type: 'overloaded_error' }, expected: 'overloaded' },
      { name: '500', reply: { status: 500, type: 'api_error' }, expected: 'server_error' },
      { name: '408', reply: { status: 408 }, expected: 'server_error' },
      { name: '409', reply: { status: 409 }, expected: 'server_error' },
      { name: '401', reply: { status: 401, type: 'authentication_error' }, expected: 'auth' },
      { name: '403', reply: { status: 403, type: 'permission_error' }, expected: 'auth' },
      {
        name: '429 because the account has no money',
        reply: { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' },
        expected: 'auth',
      },
      { name: '404', reply: { status: 404, type: 'not_found_error' }, expected: 'bad_request' },
      { name: '400', reply: { status: 400, type: 'invalid_request_error' }, expected: 'bad_request' },
      {
        name: 'a prompt too long, as Anthropic says it',
        reply: {
          status: 400,
          type: 'invalid_request_error',
          message: 'prompt is too long: 210000 tokens > 200000 maximum',
        },
        expected: 'prompt_too_long',
      },
      {
        name: 'a prompt too long, as OpenAI says it',
        reply: {
          status: 400,
          type: 'invalid_request_error',
          code: 'context_length_exceeded',
          message: "This model's maximum context length is 128000 tokens.",
        },
        expected: 'prompt_too_long',
      },
      { name: '413', reply: { status: 413, type: 'request_too_large' }, expected: 'prompt_too_long' },
      {
        name: 'a gateway without JSON',
        reply: { status: 502, body: 'Bad gateway' },
        expected: 'server_error',
      },
    ])('$name is $expected', async ({ reply, expected, retryAfterMs }) => {
      const failure = await fail(reply, { streaming });
      expect(failure).toMatchObject({ class: expected, retryAfterMs: retryAfterMs ?? null });
    });

    test('one failure is one request: the SDK does not retry', async () => {
      const before = fake.requests.length;
      await fail({ status: 500, headers: { 'x-should-retry': 'true' } }, { streaming });
      expect(fake.requests.length).toBe(before + 1);
    });

    test('a key never appears in the message of a failure', async () => {
      const failure = await fail({ status: 401, message: `Incorrect key ${KEY}; or sk-ant-0123456789` }, { streaming });
      expect(failure.message).toContain('Incorrect key [key]; or [key]');
    });

    test('an answer that ends cleanly before it is complete is stream_interrupted', async () => {
      expect(await fail({ text: 'Half an answ', fault: { kind: 'cut' } }, { streaming })).toMatchObject({
        class: 'stream_interrupted',
      });
    });

    test('a reset after the first byte is stream_interrupted', async () => {
      expect(await fail({ text: 'Half an answ', fault: { kind: 'reset' } }, { streaming })).toMatchObject({
        class: 'stream_interrupted',
      });
    });

    test('a body that stalls is stream_stalled, and its connection is closed', async () => {
      // Only the body has so little time: the checked request arrived, however busy the machine is.
      models = modelsFor(fake, { idleTimeoutMs: 100, connectTimeoutMs: 50_000 });
      expect(await fail({ text: 'Half an answ', fault: { kind: 'stall' } }, { streaming })).toMatchObject({
        class: 'stream_stalled',
      });
      expect(await fake.requests.at(-1)?.ended).toBe('client_closed');
    });

    test('headers that never come are stream_stalled, and the connection is closed', async () => {
      models = modelsFor(fake, { connectTimeoutMs: 100, wholeTimeoutMs: 100 });
      expect(await fail({ fault: { kind: 'no_headers' } }, { streaming })).toMatchObject({
        class: 'stream_stalled',
      });
      expect(await fake.requests.at(-1)?.ended).toBe('client_closed');
    });

    test('an abort before the headers closes the connection and returns aborted', async () => {
      fake.answer({ fault: { kind: 'no_headers' } });
      const controller = new AbortController();
      const next = fake.requests.length;
      const outcome = call({ streaming }, recorder(), controller.signal);
      const seen = await fake.seen(next);
      controller.abort();
      expect(await outcome).toEqual({ kind: 'aborted' });
      expect(await seen.ended).toBe('client_closed');
    });

    test('an abort in the middle closes the connection and returns aborted', async () => {
      fake.answer({ text: 'Half an answ', fault: { kind: 'stall' } });
      const controller = new AbortController();
      const deltas = recorder();
      deltas.listener.started = () => controller.abort();
      expect(await call({ streaming }, deltas, controller.signal)).toEqual({ kind: 'aborted' });
      expect(await fake.requests.at(-1)?.ended).toBe('client_closed');
    });

    test('an abort before the call sends nothing', async () => {
      const before = fake.requests.length;
      expect(await call({ streaming }, recorder(), AbortSignal.abort())).toEqual({ kind: 'aborted' });
      expect(fake.requests.length).toBe(before);
    });

    test('a missing server is unreachable', async () => {
      const gone = await startFakeProvider();
      models = modelsFor(gone);
      await gone.close();
      expect(failureOf(await call({ streaming }))).toMatchObject({ class: 'unreachable' });
    });
  });

  test.each<{ type: string; expected: FailureClass }>([
    { type: 'overloaded_error', expected: 'overloaded' },
    { type: 'rate_limit_error', expected: 'rate_limited' },
    { type: 'api_error', expected: 'server_error' },
    { type: 'authentication_error', expected: 'auth' },
    { type: 'something_new', expected: 'server_error' },
  ])('an error event of type $type in mid-stream is $expected', async ({ type, expected }) => {
    const fault = { kind: 'error_event', type, message: 'No more.' } as const;
    const failure = await fail({ text: 'Half an answ', fault });
    expect(failure.class).toBe(expected);
    expect(failure.message).toContain('No more.');
  });

  test('an incomplete answer is never taken for a complete one, wherever the stream is cut', async () => {
    const reply = { thinking: 'Hm.', text: 'Hello.', toolCalls: [{ name: 'a', arguments: {} }] };
    fake.answer({ ...reply, id: 'full' });
    const full = answerOf(await call());
    for (let after = 0; after < 40; after++) {
      fake.answer({ ...reply, id: 'full', fault: { kind: 'cut', after } });
      const outcome = await call();
      if (outcome.kind === 'done') expect(outcome.answer.content.length).toBe(full.content.length);
      else expect(failureOf(outcome).class).toBe('stream_interrupted');
    }
  });

  test('pings keep a slow stream alive', async () => {
    models = modelsFor(fake, { idleTimeoutMs: 3_000 });
    const controller = new AbortController();
    fake.answer({ text: 'Half an answ', fault: { kind: 'stall', pingMs: 20 } });
    setTimeout(() => controller.abort(), 4_000);
    expect(await call({}, recorder(), controller.signal)).toEqual({ kind: 'aborted' });
  });

  test('a connection is reused after a complete answer', async () => {
    const alone = await startFakeProvider({ text: 'Ok.', lingerMs: 10 });
    const model = modelFor(modelsFor(alone), provider);
    for (let turn = 0; turn < 3; turn++) {
      await ask(model, request(provider));
      expect(await alone.requests[turn]?.ended).toBe('as_scripted');
      // Twice: between two timers received data is read, and the connection is free.
      await sleep(5);
      await sleep(5);
    }
    expect(new Set(alone.requests.map((seen) => seen.connection)).size).toBe(1);
    await alone.close();
  });

  test('a connection is reused even if the caller is done before the last bytes came', async () => {
    const alone = await startFakeProvider({ text: 'Ok.', lingerMs: 10 });
    const model = modelFor(modelsFor(alone), provider);
    for (let turn = 0; turn < 3; turn++) {
      const controller = new AbortController();
      expect(answerOf(await ask(model, request(provider), recorder(), controller.signal))).toBeDefined();
      controller.abort();
      expect(await alone.requests[turn]?.ended).toBe('as_scripted');
      await sleep(5);
      await sleep(5);
    }
    expect(new Set(alone.requests.map((seen) => seen.connection)).size).toBe(1);
    await alone.close();
  });

  test('a history with tool results makes the round trip, and results belong to existing calls only', async () => {
    fake.answer((asked) =>
      asked.entries.at(-1)?.role === 'tool'
        ? { text: `Got ${asked.entries.at(-1)?.text}` }
        : {
            thinking: 'I need two tools.',
            text: 'One moment.',
            toolCalls: [
              { id: 'theirs-1', name: 'weather', arguments: '{ "city": "Ulm" }' },
              { id: 'theirs-2', name: 'time', arguments: {} },
            ],
          },
    );
    const first = answerOf(await call());
    const calls = first.content.filter(isToolUse);
    const results: Block[] = calls.map((one) => ({
      type: 'tool_result',
      tool_use_id: one.id,
      content: `result of ${one.name}`,
      is_error: false,
    }));
    const messages = promptOf(
      messageOf('user', 'Hello'),
      { role: 'assistant', content: first.content },
      { role: 'tool', content: results.reverse() },
    );
    const second = answerOf(await call({ messages }));
    expect(textOf(second.content)).toBe('Got result of time');
    const [, assistant, ...tools] = fake.requests.at(-1)?.entries ?? [];
    expect(assistant).toMatchObject({
      text: 'One moment.',
      calls: [
        { id: 'theirs-1', name: 'weather' },
        { id: 'theirs-2', name: 'time' },
      ],
    });
    expect(JSON.parse(assistant?.calls[0]?.arguments ?? '')).toEqual({ city: 'Ulm' });
    expect(tools.map((entry) => [entry.callId, entry.text])).toEqual([
      ['theirs-1', 'result of weather'],
      ['theirs-2', 'result of time'],
    ]);
  });

  test('a history made by another provider is valid: its reasoning is left out, its calls get ids of ours', async () => {
    const other = PROVIDER_NAMES.find((name) => name !== provider) ?? 'anthropic';
    fake.answer({
      thinking: 'Secret.',
      text: 'Moment.',
      toolCalls: [{ id: 'foreign!', name: 'time', arguments: {} }],
    });
    const foreign = answerOf(await ask(modelFor(models, other), request(other)));
    fake.answer({ text: 'Ok.' });
    const id = foreign.content.find(isToolUse)?.id ?? callId(9);
    await call({
      messages: promptOf(
        messageOf('user', 'Hello'),
        { role: 'assistant', content: foreign.content },
        {
          role: 'tool',
          content: [{ type: 'tool_result', tool_use_id: id, content: 'noon', is_error: false }],
        },
      ),
    });
    const seen = fake.requests.at(-1);
    expect(JSON.stringify(seen?.body)).not.toContain('Secret');
    expect(seen?.entries[1]).toMatchObject({ text: 'Moment.', calls: [{ id, name: 'time' }] });
    expect(seen?.entries[2]).toMatchObject({ role: 'tool', callId: id, text: 'noon' });
  });

  test('a provider that gives every call the same id gets ids of ours from the second on', async () => {
    fake.answer({ toolCalls: [{ id: 'call_0', name: 'time', arguments: {} }] });
    const one = answerOf(await call()).content;
    const two = answerOf(await call()).content;
    await call({
      messages: promptOf(messageOf('user', 'a'), { role: 'assistant', content: one }, messageOf('user', 'b'), {
        role: 'assistant',
        content: two,
      }),
    });
    const calls = fake.requests.at(-1)?.entries.flatMap((entry) => entry.calls.map((each) => each.id));
    expect(calls).toEqual(['call_0', two.find(isToolUse)?.id]);
  });

  test('system prompt, tools, parameters and the model reach the provider', async () => {
    fake.answer({ text: 'Ok.' });
    await call({
      system: 'Be brief.',
      tools: [{ name: 'time', description: 'Tells the time.', input_schema: { type: 'object', properties: {} } }],
      maxTokens: 99,
      parameters: { service_tier: 'auto', metadata: { user_id: 'u' } },
    });
    const seen = fake.requests.at(-1);
    expect(seen).toMatchObject({ model: 'test-model', tools: ['time'], stream: true });
    expect(seen?.entries[0]).toMatchObject({ role: 'system', text: 'Be brief.' });
    expect(seen?.body).toMatchObject({ service_tier: 'auto', metadata: { user_id: 'u' } });
    expect(JSON.stringify(seen?.body)).toContain('99');
  });

  test('a user message with an image and a PDF reaches the provider', async () => {
    fake.answer((asked) => ({ text: lastInput(asked) }));
    const answer = answerOf(
      await call({
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Look:' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aW1hZ2U=' } },
              { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
              {
                type: 'document',
                title: 'report.pdf',
                source: { type: 'base64', media_type: 'application/pdf', data: 'cGRm' },
              },
            ],
          },
        ],
      }),
    );
    expect(textOf(answer.content)).toBe('Look:');
    const body = JSON.stringify(fake.requests.at(-1)?.body);
    for (const part of ['aW1hZ2U=', 'https://example.com/a.png', 'cGRm']) expect(body).toContain(part);
  });

  test('an image in a tool result reaches the provider', async () => {
    fake.answer({ text: 'Ok.' });
    const content: Block[] = [{ type: 'tool_use', id: callId(1), name: 'photo', input: {} }];
    await call({
      messages: promptOf(
        messageOf('user', 'Photo!'),
        { role: 'assistant', content },
        {
          role: 'tool',
          content: [
            {
              type: 'tool_result',
              tool_use_id: callId(1),
              is_error: false,
              content: [
                { type: 'text', text: 'here' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aW1hZ2U=' } },
              ],
            },
          ],
        },
      ),
    });
    const seen = fake.requests.at(-1);
    expect(JSON.stringify(seen?.body)).toContain('aW1hZ2U=');
    expect(seen?.entries.find((entry) => entry.role === 'tool')).toMatchObject({ callId: callId(1) });
  });
});

describe('content that a provider does not support fails without a call', () => {
  test.each<{ provider: ProviderName; block: Block; problem: string }>([
    {
      provider: 'anthropic',
      block: { type: 'image', source: { type: 'base64', media_type: 'image/tiff', data: '' } },
      problem: 'image/tiff',
    },
    {
      provider: 'anthropic',
      block: { type: 'document', source: { type: 'base64', media_type: 'application/zip', data: '' } },
      problem: 'application/zip',
    },
    {
      provider: 'openai-chat',
      block: { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
      problem: 'documents by URL',
    },
  ])('$provider: $problem', async ({ provider, block, problem }) => {
    const fake = await startFakeProvider();
    const messages = promptOf({ role: 'user', content: [block] });
    const outcome = await ask(modelFor(modelsFor(fake), provider), request(provider, { messages }));
    expect(failureOf(outcome)).toMatchObject({ class: 'bad_request' });
    expect(failureOf(outcome).message).toContain(problem);
    expect(fake.requests.length).toBe(0);
    await fake.close();
  });
});

function messageOf(role: 'user' | 'assistant', text: string): { role: 'user' | 'assistant'; content: Block[] } {
  return { role, content: user(text).content };
}
