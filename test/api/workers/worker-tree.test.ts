// Workers below workers, through the API: the tree, and operations on it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { v7 } from 'uuid';
import { addProcess } from '../manual-worker.ts';
import { isQuery, openApi, type Api, type Body } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
  await addProcess(api, {});
});
afterAll(() => api.close());

const make = async (parent: string | null, name = 'w'): Promise<Body> =>
  (await api.post('/api/workers', { name, parent_worker_id: parent })).body;
const query = async (text: string) => [...(await api.database.db.execute(text))];
const detach = (id: string) => query(`update workers set detached = true where id = '${id}'`);
const tree = async (id: string, query = ''): Promise<Body> => (await api.get(`/api/workers/${id}/tree${query}`)).body;

/** `a` with two children, of which the second has a detached child with a child of its own. */
async function family() {
  const top = await make(null, 'top');
  const first = await make(top.id, 'first');
  const second = await make(top.id, 'second');
  const away = await make(second.id, 'away');
  const last = await make(away.id, 'last');
  await detach(away.id);
  return { top, first, second, away, last };
}

test('a tree shows each worker with its job, its state and its usage, nearest first', async () => {
  const { top, first, second, away, last } = await family();
  const { body: posted } = await api.post(`/api/workers/${second.id}/messages`, { content: 'x' });
  const shown = await tree(top.id);
  expect(shown).toMatchObject({
    id: top.id,
    depth: 0,
    job: null,
    truncated: false,
    usage: { input_tokens: 0, cost: null },
    children: [
      { id: first.id, depth: 1, state: 'inactive', children: [] },
      {
        id: second.id,
        state: 'working',
        job: { id: posted.job_id, status: 'queued', started_at: null, finished_at: null },
        children: [{ id: away.id, detached: true, depth: 2, children: [{ id: last.id, depth: 3 }] }],
      },
    ],
  });
  expect(await tree(second.id)).toMatchObject({ id: second.id, depth: 1 });
});

test('a tree that is cut is marked, and costs one statement however large it is', async () => {
  const { top } = await family();
  api.statements.length = 0;
  const cut = await tree(top.id, '?limit=3');
  expect(api.statements.filter(isQuery)).toHaveLength(1);
  expect(cut).toMatchObject({ truncated: true, children: [{ children: [] }, { children: [] }] });
  expect(await tree(top.id, '?limit=5')).toMatchObject({ truncated: false });
  expect((await api.get(`/api/workers/${top.id}/tree?limit=0`)).status).toBe(422);
  expect((await api.get(`/api/workers/${v7()}/tree`)).status).toBe(404);
});

describe('below a worker', () => {
  test('a stop and a start reach all but detached ones', async () => {
    const { top, first, second, away, last } = await family();
    const states = async () =>
      Promise.all(
        [top, first, second, away, last].map(async ({ id }) => (await api.get(`/api/workers/${id}`)).body.state),
      );
    expect((await api.post(`/api/workers/${top.id}/stop`)).body).toMatchObject({ state: 'stopped' });
    expect(await states()).toEqual(['stopped', 'stopped', 'stopped', 'inactive', 'inactive']);
    await api.post(`/api/workers/${top.id}/start`);
    expect(await states()).toEqual(['inactive', 'inactive', 'inactive', 'inactive', 'inactive']);
  });

  test('a delete removes all but detached ones, which become the top of a tree of their own', async () => {
    const { top, first, second, away, last } = await family();
    expect((await api.call('DELETE', `/api/workers/${top.id}`)).status).toBe(204);
    for (const { id } of [top, first, second]) {
      expect((await api.get(`/api/workers/${id}`)).status).toBe(404);
    }
    expect(await tree(away.id)).toMatchObject({ depth: 0, children: [{ id: last.id, depth: 1 }] });
    expect((await api.get(`/api/workers/${away.id}`)).body.parent_worker_id).toBeNull();
    const roots = await query(
      `select id, root_worker_id from workers where id in ('${away.id}', '${last.id}') order by depth`,
    );
    expect(roots).toEqual([
      { id: away.id, root_worker_id: null },
      { id: last.id, root_worker_id: away.id },
    ]);
  });

  test('a cancel by worker leaves the jobs of detached ones', async () => {
    const { top, first, away } = await family();
    for (const { id } of [top, first, away]) await api.post(`/api/workers/${id}/messages`, { content: 'x' });
    expect((await api.post('/api/jobs/cancel', { worker_id: top.id })).body).toEqual({ count: 2 });
    expect((await api.post('/api/jobs/cancel', { worker_id: away.id })).body).toEqual({ count: 1 });
  });
});

test('a worker that a client makes has the limits of those above it', async () => {
  const config = { limits: { depth: 2, children: 1 } };
  const top = (await api.post('/api/workers', { name: 'top', config })).body;
  const child = await make(top.id);
  expect(child.config).toEqual({ limits: { depth: 2, children: 1 } });
  const second = await api.post('/api/workers', { name: 'w', parent_worker_id: top.id });
  expect([second.status, second.body.error.code]).toEqual([409, 'worker_limit']);
  const wider = { name: 'w', parent_worker_id: child.id, config: { limits: { depth: 9, workers: 5 } } };
  const last = (await api.post('/api/workers', wider)).body;
  expect(last.config).toEqual({ limits: { depth: 2, children: 1, workers: 5 } });
  const deeper = await api.post('/api/workers', { name: 'w', parent_worker_id: last.id });
  expect([deeper.status, deeper.body.error.code]).toEqual([409, 'worker_limit']);
});

test('a question of a worker below shows in the state of the worker that waits for it, at any depth', async () => {
  const { top, second, away } = await family();
  const waits: [Body, string, Body][] = [
    [top, 'AwaitingWorkers', second],
    [second, 'AwaitingWorkers', away],
    [away, 'AwaitingInput', null],
  ];
  const ids = new Map<string, { jobId: string; callId: string }>();
  for (const [{ id }] of waits) ids.set(id, { jobId: v7(), callId: v7() });
  for (const [{ id, context_id: context }, state, awaited] of waits) {
    const { jobId, callId } = ids.get(id) ?? { jobId: '', callId: '' };
    await query(`insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, status, position, metadata,
      started_at) values ('${jobId}', 1, '${context}', '${id}', 'retry', 'main', 'waiting', 1, '{}', now())`);
    const [name, waitsFor, needs] =
      awaited === null ? ['ask_user', 'answer', 'null'] : ['spawn_worker', 'workers', '1'];
    await query(`insert into tool_calls (id, tenant_id, context_id, job_id, message_id, ordinal, name, effect, on_unknown,
      status, waits_for, needs, asked_at) values ('${callId}', 1, '${context}', '${jobId}', '${v7()}', 0, '${name}',
      'none', 'tell', 'waiting', '${waitsFor}', ${needs}, now())`);
    await query(`update contexts set state = '${state}', scheduling_status = 'waiting', next_check_at = now() + interval '1 hour'
      where id = '${context}'`);
    if (awaited === null) continue;
    const of = ids.get(awaited.id)?.jobId;
    await query(`insert into awaited_jobs (tool_call_id, job_id, tenant_id, context_id, worker_id, ordinal)
      values ('${callId}', '${of}', 1, '${context}', '${awaited.id}', 0)`);
  }
  const { body } = await api.get(`/api/contexts/${top.context_id}/state`);
  expect(body.waiting_for).toMatchObject([
    { kind: 'worker', name: 'spawn_worker', worker_id: second.id },
    { kind: 'input', name: 'ask_user', worker_id: away.id, tool_call_id: ids.get(away.id)?.callId },
  ]);
  expect(body.why).toContain(`Worker ${away.id} waits for a person or a client to answer its call of ask_user.`);
});

test('waits below show beside a question of its own, and so does an approved call whose outcome is unknown', async () => {
  const { top, second } = await family();
  const [jobId, below] = [v7(), v7()];
  const [spawned, asked, unknown] = [v7(), v7(), v7()];
  for (const [job, { id, context_id: context }, state] of [
    [jobId, top, 'AwaitingToolApproval'],
    [below, second, 'AwaitingToolApproval'],
  ] as const) {
    await query(`insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, status, position, metadata,
      started_at) values ('${job}', 1, '${context}', '${id}', 'retry', 'main', 'waiting', 1, '{}', now())`);
    await query(`update contexts set state = '${state}', scheduling_status = 'waiting', next_check_at = now() + interval '1 hour'
      where id = '${context}'`);
  }
  const call = (id: string, of: Body, job: string, name: string, waitsFor: string, rest: string) =>
    query(`insert into tool_calls (id, tenant_id, context_id, job_id, message_id, ordinal, name, effect, on_unknown, status,
      asked_at, waits_for, needs, approval, approval_at) values ('${id}', 1, '${of.context_id}', '${job}', '${v7()}', 0,
      '${name}', 'once', 'ask', 'waiting', now(), '${waitsFor}', ${rest})`);
  await call(spawned, top, jobId, 'spawn_worker', 'workers', `1, null, null`);
  await call(asked, top, jobId, 'pay', 'approval', `null, null, null`);
  const approved = JSON.stringify({ decision: 'approve', reason: null, input: null });
  await call(unknown, second, below, 'pay', 'outcome', `null, '${approved}', now()`);
  await query(`insert into awaited_jobs (tool_call_id, job_id, tenant_id, context_id, worker_id, ordinal)
    values ('${spawned}', '${below}', 1, '${top.context_id}', '${second.id}', 0)`);
  const { body } = await api.get(`/api/contexts/${top.context_id}/state`);
  expect(body.waiting_for).toContainEqual({
    kind: 'approval',
    tool_call_id: unknown,
    name: 'pay',
    worker_id: second.id,
  });
});
