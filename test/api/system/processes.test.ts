// Worker processes for the operator: their list with those that ended, and what the operator asks of them.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ProcessId } from '../../../src/core/ids.ts';
import { leaveFigures } from '../../../src/db/processes/figures.ts';
import { heartbeat, unregister } from '../../../src/db/processes/processes.ts';
import { addProcess } from '../manual-worker.ts';
import { ids, openApi, type Api, type Body } from '../harness.ts';

const ADMIN_KEY = 'the-key-of-the-operator';
const OPERATOR = { authorization: `Bearer ${ADMIN_KEY}` };
const TENANT = { authorization: 'Bearer key-of-acme' };

let api: Api;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_API_KEYS: 'key-of-acme:acme', NIGHTSHIFT_ADMIN_KEY: ADMIN_KEY });
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.database.db.execute(sql`truncate processes, audit_entries`);
});

const list = async (query = ''): Promise<Body> => {
  const { status, body } = await api.get(`/api/processes${query}`, OPERATOR);
  expect(status).toBe(200);
  return body;
};
const ask = (id: string, what: string, headers: Record<string, string> = OPERATOR) =>
  api.post(`/api/processes/${id}/${what}`, undefined, headers);

async function drainable(): Promise<ProcessId> {
  const id = await addProcess(api, { mcpServers: ['files'] });
  await api.database.db.execute(sql`update processes set can_drain = true where id = ${id}`);
  return id;
}

test('the list has live processes and those that ended, newest first, page by page', async () => {
  const [ended, live] = [await addProcess(api), await drainable()];
  await unregister(api.database.db, ended);
  await leaveFigures(api.database.db, live, [
    { name: 'nightshift_slots', help: '', type: 'gauge', values: [{ value: 100, labels: {} }] },
  ]);
  api.statements.length = 0;
  const { data, next_cursor } = await list();
  // The statement, within the transaction that limits it: one round trip.
  expect(api.statements).toHaveLength(4);
  expect(next_cursor).toBeNull();
  expect(data).toEqual([
    {
      id: live,
      host: 'test',
      pid: 1,
      version: '0',
      status: 'running',
      requested_status: 'running',
      can_drain: true,
      started_at: expect.any(String),
      heartbeat_at: expect.any(String),
      ended_at: null,
      running: 0,
      concurrency: 100,
      providers: ['simulated'],
      mcp_servers: ['files'],
    },
    expect.objectContaining({
      id: ended,
      status: 'stopped',
      ended_at: expect.any(String),
      running: 0,
      concurrency: null,
    }),
  ]);
  expect((await list('?live=true')).data.map(({ id }: Body) => id)).toEqual([live]);
  expect((await list('?live=false')).data.map(({ id }: Body) => id)).toEqual([ended]);
  const first = await list('?limit=1');
  expect(first.data.map(({ id }: Body) => id)).toEqual([live]);
  const second = await list(`?limit=1&cursor=${first.next_cursor}`);
  expect([second.data.map(({ id }: Body) => id), second.next_cursor]).toEqual([[ended], null]);
});

test('pause, resume and drain answer at once, are repeated without effect, and are in the audit log', async () => {
  const id = await drainable();
  const answers = [];
  for (const what of ['pause', 'pause', 'resume', 'drain', 'drain']) answers.push(await ask(id, what));
  expect(answers.map(({ status, body }) => [status, body.id, body.requested_status])).toEqual([
    [202, id, 'paused'],
    [202, id, 'paused'],
    [202, id, 'running'],
    [202, id, 'draining'],
    [202, id, 'draining'],
  ]);
  const { body } = await api.get('/api/audit', OPERATOR);
  expect(body.data.map(({ action, target }: Body) => [action, target])).toEqual([
    ['process.drained', id],
    ['process.resumed', id],
    ['process.paused', id],
  ]);
  expect((await list()).data[0]).toMatchObject({ status: 'running', requested_status: 'draining' });
  const times = { heartbeatTimeoutMs: 60_000, leaseMs: 60_000 };
  await heartbeat(api.database.db, { id, status: 'draining' }, times);
  expect((await list()).data[0]).toMatchObject({ status: 'draining' });
});

test('what cannot be asked of a process is refused with its reason', async () => {
  const [draining, ended, other] = [await drainable(), await drainable(), await addProcess(api)];
  await ask(draining, 'drain');
  await unregister(api.database.db, ended);
  const codeOf = async (id: string, what: string) => {
    const { status, body } = await ask(id, what);
    return [status, body.error.code];
  };
  expect(await codeOf(draining, 'pause')).toEqual([409, 'process_draining']);
  expect(await codeOf(draining, 'resume')).toEqual([409, 'process_draining']);
  expect(await codeOf(ended, 'pause')).toEqual([409, 'process_ended']);
  expect(await codeOf(other, 'drain')).toEqual([409, 'process_not_drainable']);
  expect(await codeOf(ids.next<ProcessId>(), 'pause')).toEqual([404, 'not_found']);
  expect(await codeOf('no-id', 'pause')).toEqual([404, 'not_found']);
  expect((await api.get('/api/audit', OPERATOR)).body.data).toHaveLength(1);
});

test('only the operator sees and changes them', async () => {
  const id = await drainable();
  for (const answer of [
    await api.get('/api/processes', TENANT),
    await ask(id, 'pause', TENANT),
    await ask(id, 'resume', TENANT),
    await ask(id, 'drain', TENANT),
  ])
    expect([answer.status, answer.body.error.code]).toEqual([403, 'forbidden']);
});
