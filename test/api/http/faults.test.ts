// A refused request gets all its faults at once, by path and in plain words, at a bounded cost.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let worker: Body;
beforeAll(async () => {
  api = await openApi();
  worker = await api.worker();
});
afterAll(() => api.close());

const post = (config: unknown) => api.post('/api/workers', { name: 'a', config });

/** The sentences of a refusal. */
async function messagesOf(body: unknown, path = '/api/workers'): Promise<string[]> {
  const refused = await api.post(path, body);
  expect(refused.status).toBe(422);
  return refused.body.error.errors.map(({ message }: Body) => message);
}

describe('a request with several faults', () => {
  test('gets all of them, each with its path', async () => {
    const config = { max_steps: 'many', mode: 'fly', tools: ['a', 5], compaction: { threshold: 2 } };
    const { status, body } = await api.post('/api/workers', { name: '', rolle: 'x', config });
    expect(status).toBe(422);
    expect(body.error.errors).toEqual(
      [
        ['rolle', 'Unknown field `rolle`. Known fields: name, user, role, config, parent_worker_id, input.'],
        ['name', 'name: must be a non-empty string of at most 200 characters, without NUL and unpaired surrogates.'],
        ['config.mode', 'config.mode: must be act or plan, not "fly".'],
        ['config.tools.1', 'config.tools[1]: must be a non-empty string of at most 256 characters, not a number.'],
        [
          'config.compaction.threshold',
          'config.compaction.threshold: must be a number greater than 0 and at most 1, not 2.',
        ],
        ['config.max_steps', 'config.max_steps: must be a whole number from 1 to 1000000000, not "many".'],
      ].map(([path, message]) => ({ path, code: 'invalid_request', message })),
    );
    expect(body.error.param).toBe('rolle');
    expect(body.detail).toBe(
      `${body.error.errors
        .slice(0, 3)
        .map(({ message }: Body) => message)
        .join(' ')} And 3 more: error.errors lists all.`,
    );
  });

  test('for names that no worker process serves gets all faults, too', async () => {
    const { body } = await post({
      model: 'openai/x',
      compaction: { model: 'gpt' },
      parameters: { colour: 1, size: 2 },
    });
    expect(body.error.errors.map(({ path, code }: Body) => [path, code])).toEqual([
      ['config.parameters.colour', 'invalid_request'],
      ['config.parameters.size', 'invalid_request'],
      ['config.compaction.model', 'unknown_model'],
    ]);
    const tool = { name: 'here', description: 'd', input_schema: { type: 'object' } };
    const wrong = { ...tool, name: 'there', input_schema: { type: 'object', required: 5 } };
    const tools = await post({ client_tools: [tool, tool, wrong] });
    expect(tools.body.error.errors.map(({ path }: Body) => path)).toEqual([
      'config.client_tools.1.name',
      'config.client_tools.2.input_schema',
    ]);
  });

  test('gets the faults of its query, too', async () => {
    const { status, body } = await api.get('/api/workers?limit=many&archived=perhaps&colour=red');
    expect(status).toBe(422);
    expect(body.error.errors.map(({ message }: Body) => message)).toEqual([
      expect.stringMatching(/^Unknown query parameter `colour`\. Known parameters: limit, cursor, /),
      'limit: must be a whole number from 1 to 200, not "many".',
      'archived: must be true or false, not "perhaps".',
    ]);
  });
});

describe('a value of several types', () => {
  test.each<[unknown, string]>([
    [5, 'content: must be a non-empty string or a list of 1 to 1000 entries, not a number.'],
    ['', 'content: must be a non-empty string.'],
    [[], 'content: must be a list of 1 to 1000 entries, not 0.'],
    [[{ type: 'text', text: 5 }], 'content[0].text: must be a non-empty string, not a number.'],
    [[{ type: 'video' }], 'content[0].type: is missing or not one of the allowed types.'],
  ])('%j gets one sentence', async (content, message) => {
    expect(await messagesOf({ content }, `/api/workers/${worker.id}/messages`)).toEqual([message]);
  });

  test.each<[unknown, string]>([
    [{ max_steps: 'x' }, 'config.max_steps: must be a whole number from 1 to 1000000000 or null, not "x".'],
    [{ max_steps: 0 }, 'config.max_steps: must be a whole number from 1 to 1000000000, not 0.'],
    [{ compaction: 5 }, 'config.compaction: must be an object or null, not a number.'],
    [{ compaction: { type: 'zip' } }, 'config.compaction.type: must be threshold, llm or none, not "zip".'],
  ])('a patch of %j gets one sentence', async (config, message) => {
    const { body } = await api.call('PATCH', `/api/workers/${worker.id}`, { config });
    expect(body.error).toMatchObject({ message, errors: [{ message }] });
  });
});

test('an empty filter of jobs to cancel is refused', async () => {
  expect(await messagesOf({ metadata: {} }, '/api/jobs/cancel')).toEqual(['metadata: must not be empty.']);
});

test('at most twenty faults are listed, and the others counted', async () => {
  const { body } = await post({ tools: Array.from({ length: 50 }, (_, at) => at) });
  expect(body.error.errors).toHaveLength(20);
  expect(body.detail).toMatch(/ And 47 more: error\.errors lists the first 20\.$/);
});

test('free text and headers are not repeated', async () => {
  const secret = 'sk-secret';
  for (const { body } of [
    await api.post('/api/workers', { name: `${secret}\0` }),
    await api.post('/api/workers', { name: 'a' }, { 'idempotency-key': secret.repeat(50) }),
  ]) {
    expect(body.error.code).toBe('invalid_request');
    expect(JSON.stringify(body)).not.toContain(secret);
  }
});

// Collecting all errors takes time with the square of their number: 50,000 took a minute.
test.each<[string, unknown]>([
  ['blocks without a type', { content: Array.from({ length: 49_000 }, () => ({})) }],
  ['blocks of a wrong type', { content: Array.from({ length: 32_000 }, () => ({ type: 'text', text: 3 })) }],
  ['unknown fields', Object.fromEntries(Array.from({ length: 99_000 }, (_, at) => [`k${at}`, 1]))],
])('a body of very many faults is refused at once: %s', async (_, body) => {
  const began = performance.now();
  expect(await messagesOf(body, `/api/workers/${worker.id}/messages`)).toHaveLength(1);
  expect(performance.now() - began).toBeLessThan(5_000);
});
