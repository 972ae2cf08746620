// Chat: the first message makes the session, later ones continue it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { v7 } from 'uuid';
import type { ContextId, ProcessId } from '../../../src/core/ids.ts';
import { addProcess, take } from '../manual-worker.ts';
import { openApi, type Api } from '../harness.ts';
import { tagOf } from '../../services/statements.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi({ DEFAULT_SESSION_TIMEOUT: '600' });
  owner = await addProcess(api);
});
afterAll(() => api.close());

const contexts = async (): Promise<number> => (await api.get('/api/contexts?limit=200')).body.data.length;

describe('a session', () => {
  test('is made by its first message, and continues', async () => {
    const first = await api.post('/api/chat', { message: 'My name is Alice.' });
    expect(first.status).toBe(202);
    const { session_id: id, job_id, stream_url } = first.body;
    expect(first.body).toEqual({
      session_id: expect.any(String),
      job_id: expect.any(String),
      stream_url: `/api/contexts/${id}/events?after=0`,
    });
    expect(stream_url).toContain(id);
    expect(api.wakeUps.at(-1)?.contextId).toBe(id);
    expect((await api.get(`/api/jobs/${job_id}`)).body).toMatchObject({ context_id: id, status: 'queued' });
    const manual = await take(api, id as ContextId, owner);
    await manual.admit();
    await manual.complete('Hello Alice.');
    const { headers } = await api.get(`/api/contexts/${id}`);
    expect(headers['etag']).toBe('"1"');
    const second = await api.post('/api/chat', { message: "What's my name?", session_id: id.toUpperCase() });
    expect(second.status).toBe(202);
    expect(second.body.session_id).toBe(id);
    expect(second.body.stream_url).not.toBe(stream_url);
    const { body } = await api.get(`/api/contexts/${id}/messages`);
    expect(body.data.map((one: { role: string; status: string }) => [one.role, one.status])).toEqual([
      ['user', 'completed'],
      ['assistant', 'completed'],
      ['user', 'queued'],
    ]);
  });

  test('has the timeout of the config file, on the default model', async () => {
    const { body } = await api.post('/api/chat', { message: [{ type: 'text', text: 'hi' }] });
    const session = (await api.get(`/api/contexts/${body.session_id}`)).body;
    expect(session.config).toEqual({ idle_timeout_s: 600 });
  });

  test('is any context: its config is set where that is made', async () => {
    const made = await api.post('/api/contexts', { config: { model: 'simulated/x', idle_timeout_s: 5 } });
    const { status, body } = await api.post('/api/chat', { message: 'hi', session_id: made.body.id });
    expect(status).toBe(202);
    expect(body.session_id).toBe(made.body.id);
  });

  test('that does not exist is not found', async () => {
    const before = await contexts();
    for (const id of [v7(), 'me', '']) {
      const { status, body } = await api.post('/api/chat', { message: 'hi', session_id: id });
      expect(status).toBe(404);
      expect(body.error).toMatchObject({ code: 'not_found', param: 'session_id' });
    }
    expect(await contexts()).toBe(before);
  });
});

test('a first message is one statement, and so is a later one', async () => {
  // Now and then the API also reads which models are served.
  const sent = () => api.statements.map(tagOf).filter((tag) => tag !== 'processes.read_published');
  api.statements.length = 0;
  const { body } = await api.post('/api/chat', { message: 'hi' });
  expect(sent()).toEqual(['workers.create']);
  api.statements.length = 0;
  await api.post('/api/chat', { message: 'more', session_id: body.session_id });
  expect(sent()).toEqual(['jobs.submit_many']);
});

test('whose first message is sent twice under its key is made once', async () => {
  const before = await contexts();
  const key = { 'idempotency-key': v7() };
  const answers = await Promise.all([1, 2, 3].map(() => api.post('/api/chat', { message: 'hi' }, key)));
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(await contexts()).toBe(before + 1);
  expect((await api.post('/api/chat', { message: 'ho' }, key)).status).toBe(422);
});

test('invalid messages are refused by field name, and no session is left behind', async () => {
  const before = await contexts();
  for (const [body, param] of [
    [{}, 'message'],
    [{ message: '' }, 'message'],
    [{ message: 5 }, 'message'],
    [{ message: 'x', session_id: 5 }, 'session_id'],
    [{ message: 'x', model: 'simulated/x' }, 'model'],
  ] as const) {
    const refused = await api.post('/api/chat', body);
    expect(refused.status).toBe(422);
    expect(refused.body.error).toMatchObject({ code: 'invalid_request', param });
  }
  expect(await contexts()).toBe(before);
});

test('does not exist for another tenant', async () => {
  const other = await openApi({ NIGHTSHIFT_API_KEYS: 'a:one,b:two' });
  try {
    const as = (key: string) => ({ authorization: `Bearer ${key}` });
    const { body } = await other.post('/api/chat', { message: 'hi' }, as('a'));
    const refused = await other.post('/api/chat', { message: 'hi', session_id: body.session_id }, as('b'));
    expect(refused.status).toBe(404);
  } finally {
    await other.close();
  }
});

test('without a process that supports the default model, the answer tells how to fix it', async () => {
  const other = await openApi({ NIGHTSHIFT_DEFAULT_MODEL: 'anthropic/claude' });
  try {
    await addProcess(other);
    const refused = await other.post('/api/chat', { message: 'hi' });
    expect(refused.status).toBe(422);
    expect(refused.body.error.code).toBe('unknown_model');
    expect(refused.body.detail).toMatch(/anthropic\/claude/);
  } finally {
    await other.close();
  }
});
