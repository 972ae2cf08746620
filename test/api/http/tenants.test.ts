// A tenant sees its own rows: on every path of the document, an id of another tenant is not found.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ToolCallId } from '../../../src/core/ids.ts';
import { OUTSIDE, addProcess, converse, take } from '../manual-worker.ts';
import { tagOf } from '../../services/statements.ts';
import { ids, openApi, type Api, type Body } from '../harness.ts';

const OURS = { authorization: 'Bearer ours' };
const THEIRS = { authorization: 'Bearer theirs' };

let api: Api;
let worker: Body;
let job: string;
let message: string;
const toolCall = ids.next<ToolCallId>();
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_API_KEYS: 'ours:acme,theirs:globex' });
  const owner = await addProcess(api);
  worker = (await api.post('/api/workers', { name: 'w' }, OURS)).body;
  const asUs = { ...api, post: (path: string, body?: unknown) => api.post(path, body, OURS) };
  job = await converse(asUs, worker.context_id, owner, 'hello', 'hi');
  const { body } = await api.get(`/api/contexts/${worker.context_id}/messages`, OURS);
  message = body.data[0].id;
  await asUs.post(`/api/contexts/${worker.context_id}/messages`, { content: 'order' });
  const manual = await take(asUs, worker.context_id, owner, OUTSIDE);
  await manual.admit();
  const input = { question: 'Which?' };
  await manual.answer([{ type: 'tool_use', id: toolCall, name: 'ask_user', input }]);
  await manual.awaitCalls(Date.now() + 3_600_000);
});
afterAll(() => api.close());

const BODIES: Record<string, object> = {
  'post /api/workers/{id}/messages': { content: 'x' },
  'post /api/contexts/{id}/messages': { content: 'x' },
  'put /api/contexts/{id}': { config: {} },
  'patch /api/contexts/{id}': { title: 'x' },
  'patch /api/workers/{id}': { name: 'x' },
  'post /api/contexts/{id}/branches': { name: 'x' },
  'post /api/contexts/{id}/tools/{tool_call_id}/result': { content: 'x' },
  'post /api/contexts/{id}/tools/approve': { all: true, decision: 'approve' },
  'post /api/contexts/{id}/tools/{tool_call_id}/resolve': { outcome: 'tell' },
  'post /api/contexts/{id}/messages/{message_id}/edit': { content: 'x' },
};

/** A path with our ids in it; null: it has no id. */
function fill(path: string): string | null {
  if (!path.includes('{id}')) return null;
  const id = path.includes('/workers/') ? worker.id : path.includes('/jobs/') ? job : worker.context_id;
  return path
    .replace('{id}', id)
    .replace('{message_id}', message)
    .replace('{tool_call_id}', toolCall)
    .replace('{tool}', 'ask_user')
    .replace('{name}', 'main');
}

test('every path with an id of another tenant is not found, and changes nothing', async () => {
  const before = [
    (await api.get(`/api/workers/${worker.id}`, OURS)).body,
    (await api.get(`/api/contexts/${worker.context_id}`, OURS)).body,
    (await api.get(`/api/contexts/${worker.context_id}/messages`, OURS)).body,
    (await api.get(`/api/jobs/${job}`, OURS)).body,
  ];
  let tried = 0;
  for (const [path, operations] of Object.entries(api.contract.document.paths)) {
    const url = fill(path);
    if (url === null) continue;
    for (const method of Object.keys(operations)) {
      tried += 1;
      for (const extra of [{}, { 'idempotency-key': `${method} ${path}` }]) {
        const body = BODIES[`${method} ${path}`];
        const answer = await api.call(method.toUpperCase(), url, body, { ...THEIRS, ...extra });
        const isOfOperator = path.startsWith('/api/providers/');
        expect(`${method} ${path} ${answer.status}`).toBe(`${method} ${path} ${isOfOperator ? 403 : 404}`);
        expect(answer.body.error.code).toBe(isOfOperator ? 'forbidden' : 'not_found');
      }
    }
  }
  expect(tried).toBeGreaterThanOrEqual(18);
  const after = [
    (await api.get(`/api/workers/${worker.id}`, OURS)).body,
    (await api.get(`/api/contexts/${worker.context_id}`, OURS)).body,
    (await api.get(`/api/contexts/${worker.context_id}/messages`, OURS)).body,
    (await api.get(`/api/jobs/${job}`, OURS)).body,
  ];
  expect(after).toEqual(before);
});

describe('the id of a tenant', () => {
  const lookUps = (of: Api) => of.statements.filter((text) => /\btenants\b/.test(text)).map(tagOf);

  test('is looked up by the first requests together, and by no later one', async () => {
    const other = await openApi({ NIGHTSHIFT_API_KEYS: 'ours:acme,new:initech,old:default' }, api.databaseUrl);
    const ask = async (key: string) => (await other.get('/api/workers', { authorization: `Bearer ${key}` })).status;
    expect(await Promise.all([ask('new'), ask('new'), ask('new')])).toEqual([200, 200, 200]);
    expect(lookUps(other)).toEqual(['tenants.find', 'tenants.add']);
    await Promise.all([ask('new'), ask('old')]);
    expect(lookUps(other)).toHaveLength(2);
    await other.close();
  });

  test('stays when the API starts again, and each name has its own rows', async () => {
    const again = await openApi({ NIGHTSHIFT_API_KEYS: 'theirs:acme,ours:globex' }, api.databaseUrl);
    expect((await again.get(`/api/workers/${worker.id}`, THEIRS)).body.id).toBe(worker.id);
    expect((await again.get(`/api/workers/${worker.id}`, OURS)).status).toBe(404);
    expect(lookUps(again)).toEqual(['tenants.find', 'tenants.find']);
    await again.close();
  });
});

describe('another tenant', () => {
  test('finds our rows in no list and no metric', async () => {
    for (const path of [
      '/api/workers',
      '/api/contexts',
      '/api/jobs',
      '/api/roles',
      '/api/approvals',
      `/api/jobs?context_id=${worker.context_id}`,
      `/api/jobs?worker_id=${worker.id}`,
      `/api/workers?parent_worker_id=${worker.id}`,
    ]) {
      expect((await api.get(path, THEIRS)).body.data).toEqual([]);
    }
    const { body } = await api.get('/api/stats', THEIRS);
    expect(body).toEqual({ queue_depth: 0, running: 0, waiting: 0, by_state: {} });
  });

  test('cannot make a child of our worker', async () => {
    const refused = await api.post('/api/workers', { name: 'c', parent_worker_id: worker.id }, THEIRS);
    expect(refused.status).toBe(404);
  });

  test('has idempotency keys of its own', async () => {
    const key = { 'idempotency-key': 'shared' };
    const one = await api.post('/api/workers', { name: 'a' }, { ...OURS, ...key });
    const two = await api.post('/api/workers', { name: 'b' }, { ...THEIRS, ...key });
    expect([one.status, two.status]).toEqual([201, 201]);
    expect(one.body.id).not.toBe(two.body.id);
  });

  test('sees its own rows', async () => {
    const { body } = await api.get('/api/workers', THEIRS);
    expect(body.data.map((one: Body) => one.name)).toEqual(['b']);
  });
});
