// Clear: history and counters are reset; old messages stay readable by id, and in the stream.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { v7 } from 'uuid';
import { readEvents } from '../../../src/db/read/messages/event-views.ts';
import { DEFAULT_TENANT, type ProcessId } from '../../../src/core/ids.ts';
import { addProcess, converse, take } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi();
  owner = await addProcess(api);
});
afterAll(() => api.close());

const list = async (id: string, query = ''): Promise<Body[]> =>
  (await api.get(`/api/contexts/${id}/messages${query}`)).body.data;

test('resets history, turns and counters, and answers with the context', async () => {
  const { context_id: id } = await api.worker();
  await converse(api, id, owner, 'hello', 'hi');
  await converse(api, id, owner, 'again', 'yes');
  const before = await list(id);
  expect(before).toHaveLength(4);
  const version = (await api.get(`/api/contexts/${id}`)).headers['etag'];
  const cleared = await api.post(`/api/contexts/${id}/clear`);
  expect(cleared.status).toBe(200);
  expect(cleared.headers['etag']).toBe(version);
  expect(cleared.body).toMatchObject({
    id,
    state: 'Idle',
    active_branch: 'main',
    branches: ['main'],
    message_count: 0,
    turn_count: 0,
    request_count: 0,
    usage: { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 },
  });
  expect(await list(id)).toEqual([]);
  expect(await list(id, '?include=retracted&order=desc')).toEqual([]);
  for (const message of before) {
    expect((await api.get(`/api/contexts/${id}/messages/${message.id}`)).body).toEqual(message);
  }
  await converse(api, id, owner, 'again', 'sure');
  expect((await list(id)).map(({ turn, content }) => [turn, content[0].text])).toEqual([
    ['u1', 'again'],
    ['a1', 'sure'],
  ]);
  expect((await api.get(`/api/contexts/${id}`)).body).toMatchObject({
    message_count: 2,
    turn_count: 1,
    request_count: 1,
  });
  expect((await api.get(`/api/contexts/${id}/messages?turn=a1`)).body.data).toHaveLength(1);
});

test('is published in the stream, which keeps the earlier events', async () => {
  const { context_id: id } = await api.worker();
  await converse(api, id, owner, 'hello', 'hi');
  await api.post(`/api/contexts/${id}/clear`);
  await converse(api, id, owner, 'again', 'sure');
  const events = await readEvents(api.database.db, DEFAULT_TENANT, id, { after: 0, limit: 500 });
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const names = events.map(({ name }) => name);
  expect(names.filter((name) => name === 'ContextCleared')).toHaveLength(1);
  expect(names.slice(0, names.indexOf('ContextCleared'))).toContain('MessageCompleted');
  expect(names.slice(names.indexOf('ContextCleared'))).toContain('MessageCompleted');
});

test('is refused while a job runs, waits or is queued, and changes nothing', async () => {
  const { context_id: id } = await api.worker();
  await converse(api, id, owner, 'hello', 'hi');
  const { body: posted } = await api.post(`/api/contexts/${id}/messages`, { content: 'next' });
  const refusedWith = async () => {
    const refused = await api.post(`/api/contexts/${id}/clear`);
    expect(refused.status).toBe(409);
    expect(refused.headers['x-should-retry']).toBe('false');
    expect(refused.body.error.code).toBe('context_busy');
  };
  await refusedWith();
  const manual = await take(api, id, owner);
  await manual.admit();
  await refusedWith();
  await manual.sleep(Date.now() + 3_600_000);
  await refusedWith();
  expect(await list(id)).toHaveLength(3);
  await api.post(`/api/jobs/${posted.job_id}/cancel`);
  expect((await api.post(`/api/contexts/${id}/clear`)).status).toBe(200);
});

test('makes a failed context idle, with nothing to answer', async () => {
  const { context_id: id, id: worker } = await api.worker();
  await api.post(`/api/contexts/${id}/messages`, { content: 'hello' });
  const manual = await take(api, id, owner);
  await manual.admit();
  await manual.settle({ status: 'failed', error: { code: 'internal', message: 'broken' } });
  expect((await api.get(`/api/contexts/${id}`)).body.state).toBe('PermanentFailure');
  expect((await api.post(`/api/contexts/${id}/clear`)).body.state).toBe('Idle');
  expect((await api.get(`/api/workers/${worker}`)).body).toMatchObject({
    state: 'inactive',
    last_failure: null,
  });
});

test('leaves a stopped worker stopped', async () => {
  const { context_id: id, id: worker } = await api.worker();
  await converse(api, id, owner, 'hello', 'hi');
  await api.post(`/api/workers/${worker}/stop`);
  expect((await api.post(`/api/contexts/${id}/clear`)).body).toMatchObject({
    state: 'Stopped',
    message_count: 0,
  });
});

test('applies to the version in If-Match, and once for one idempotency key', async () => {
  const { context_id: id } = await api.worker();
  await converse(api, id, owner, 'hello', 'hi');
  const stale = await api.post(`/api/contexts/${id}/clear`, undefined, { 'if-match': '"7"' });
  expect(stale.status).toBe(412);
  expect(await list(id)).toHaveLength(2);
  const headers = { 'if-match': '"1"', 'idempotency-key': v7() };
  const first = await api.post(`/api/contexts/${id}/clear`, undefined, headers);
  await converse(api, id, owner, 'again', 'sure');
  const again = await api.post(`/api/contexts/${id}/clear`, undefined, headers);
  expect(again.body).toEqual(first.body);
  expect(await list(id)).toHaveLength(2);
});

test('messages that left history cannot be retried, and no branch begins there', async () => {
  const { context_id: id } = await api.worker();
  await converse(api, id, owner, 'hello', 'hi');
  const [input] = await list(id);
  await api.post(`/api/contexts/${id}/branches`, { name: 'aside', activate: true });
  const cleared = await api.post(`/api/contexts/${id}/clear`);
  expect(cleared.body).toMatchObject({ active_branch: 'main', branches: ['main'] });
  const at = `/api/contexts/${id}/messages/${input?.id}`;
  expect((await api.post(`${at}/edit`, { content: 'x' })).status).toBe(404);
  expect((await api.post(`${at}/regenerate`, {})).status).toBe(404);
  expect((await api.post(`/api/contexts/${id}/branches`, { name: 'b', from_message_id: input?.id })).status).toBe(422);
  // The name is free again, and shows nothing of the older branch.
  expect((await api.post(`/api/contexts/${id}/branches`, { name: 'aside', activate: true })).status).toBe(201);
  expect(await list(id, '?branch=aside')).toEqual([]);
});

test('of an empty context changes nothing, and can be repeated', async () => {
  const { context_id: id } = await api.worker();
  for (const _ of [1, 2]) expect((await api.post(`/api/contexts/${id}/clear`)).status).toBe(200);
  expect((await api.post(`/api/contexts/${v7()}/clear`)).status).toBe(404);
});
