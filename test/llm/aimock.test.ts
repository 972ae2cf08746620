/**
 * The same behaviour against a fake by other authors, so that the tests do not depend on our reading of the wire
 * formats alone.
 */
import { LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { isToolUse, textOf } from '../../src/core/conversation/blocks.ts';
import { createModels, type Models } from '../../src/llm/models.ts';
import {
  KEY,
  answerOf,
  ask,
  countingIds,
  failureOf,
  modelFor,
  promptOf,
  request,
  recorder,
  user,
} from './model-calls.ts';

const mock = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 4 });
let models: Models;
beforeAll(async () => {
  await mock.start();
  models = createModels({
    anthropic: { apiKey: KEY, baseURL: mock.url },
    openai: { apiKey: KEY, baseURL: `${mock.url}/v1` },
    idleTimeoutMs: 50_000,
    ids: countingIds(),
  });
});
afterEach(() => void mock.clearFixtures());
afterAll(() => mock.stop());

describe.each(['anthropic', 'openai', 'openai-chat'] as const)('%s', (provider) => {
  const model = () => modelFor(models, provider);

  describe.each([true, false])('streaming: %s', (streaming) => {
    test('text is returned', async () => {
      mock.onMessage('Hello', { content: 'Good evening, night owl. 🦉' });
      const deltas = recorder();
      const answer = answerOf(await ask(model(), request(provider, { streaming }), deltas));
      expect(textOf(answer.content)).toBe('Good evening, night owl. 🦉');
      expect(deltas.text.join('')).toBe(streaming ? 'Good evening, night owl. 🦉' : '');
      expect(answer.finishReason).toBe('stop');
    });

    test('thinking is returned apart from text', async () => {
      mock.onMessage('Hello', { content: 'Evening.', reasoning: 'They greet me.' });
      const answer = answerOf(await ask(model(), request(provider, { streaming })));
      expect(answer.content[0]).toMatchObject({ type: 'thinking', text: 'They greet me.' });
    });

    test('parallel tool calls get their results, and the answer follows', async () => {
      const toolCalls = [
        { name: 'weather', arguments: { city: 'Ulm' } },
        { name: 'time', arguments: {} },
      ];
      mock.on({ userMessage: 'Hello', hasToolResult: false }, { toolCalls });
      mock.on({ userMessage: 'Hello', hasToolResult: true }, { content: 'Rain at noon.' });
      const first = answerOf(await ask(model(), request(provider, { streaming })));
      const calls = first.content.filter(isToolUse);
      expect(calls.map(({ name, input }) => [name, input])).toEqual([
        ['weather', { city: 'Ulm' }],
        ['time', {}],
      ]);
      const messages = promptOf(
        { role: 'user', content: user('Hello').content },
        { role: 'assistant', content: first.content },
        ...calls.map(({ id, name }) => ({
          role: 'tool' as const,
          content: [{ type: 'tool_result' as const, tool_use_id: id, content: `${name}: ok`, is_error: false }],
        })),
      );
      const second = answerOf(await ask(model(), request(provider, { streaming, messages })));
      expect(textOf(second.content)).toBe('Rain at noon.');
    });

    test.each([
      { status: 429, type: 'rate_limit_error', class: 'rate_limited', retryAfterMs: 3_000 },
      { status: 529, type: 'overloaded_error', class: 'overloaded', retryAfterMs: null },
      { status: 500, type: 'api_error', class: 'server_error', retryAfterMs: null },
      { status: 401, type: 'authentication_error', class: 'auth', retryAfterMs: null },
    ])('$status is $class', async ({ status, type, retryAfterMs, class: expected }) => {
      mock.onMessage('Hello', { status, error: { message: 'No.', type }, retryAfter: 3 });
      const failure = failureOf(await ask(model(), request(provider, { streaming })));
      expect(failure).toMatchObject({ class: expected, retryAfterMs });
    });

    test('an answer that comes too late is stream_stalled', async () => {
      const late = createModels({
        anthropic: { apiKey: KEY, baseURL: mock.url },
        openai: { apiKey: KEY, baseURL: `${mock.url}/v1` },
        idleTimeoutMs: 100,
        wholeTimeoutMs: 100,
      });
      mock.onMessage('Hello', { content: 'Late.' }, { chaos: { latencyMs: 1_000 } });
      const outcome = await ask(modelFor(late, provider), request(provider, { streaming }));
      expect(failureOf(outcome)).toMatchObject({ class: 'stream_stalled' });
    });
  });

  test('a stream that is disconnected in the middle is stream_interrupted', async () => {
    mock.onMessage(
      'Hello',
      { content: 'A long answer that will not be read to its end.' },
      { latency: 10, truncateAfterChunks: 3 },
    );
    const failure = failureOf(await ask(model(), request(provider)));
    expect(failure).toMatchObject({ class: 'stream_interrupted' });
  });
});
