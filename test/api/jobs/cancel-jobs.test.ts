// Cancel by filter: hundreds of jobs at once, by their fields and their worker.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { v7 } from 'uuid';
import { ALL_UNFINISHED } from '../../../src/db/run/unfinished.ts';
import { cancelJobs } from '../../../src/commands/jobs/cancel-jobs.ts';
import { controlSignalsTo } from '../../../src/bus/bus.ts';
import { DEFAULT_TENANT, type ProcessId } from '../../../src/core/ids.ts';
import { createTestDatabase } from '../../services/database.ts';
import { addProcess, converse, take } from '../manual-worker.ts';
import { openApi, withKey, type Api, type Body } from '../harness.ts';

const OURS = { authorization: 'Bearer ours' };

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi();
  owner = await addProcess(api, { roles: ['coder'] });
});
afterAll(() => api.close());

const post = async (contextId: string, extra: object = {}): Promise<string> =>
  (await api.post(`/api/contexts/${contextId}/messages`, { content: 'x', ...extra })).body.job_id;
const posts = (contextId: string, count: number, extra: object = {}): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => post(contextId, extra)));
const cancel = (filter: object, headers?: Record<string, string>) => api.post('/api/jobs/cancel', filter, headers);
const statusOf = async (id: string): Promise<string> => (await api.get(`/api/jobs/${id}`)).body.status;
const make = async (body: object): Promise<Body> => (await api.post('/api/workers', { name: 'w', ...body })).body;

describe('of one context', () => {
  test('withdraws queued jobs and stops running ones, even if another context is locked', async () => {
    const worker = await api.worker();
    const other = await api.worker();
    const running = await post(worker.context_id);
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    const queued = await posts(worker.context_id, 300);
    const left = await post(other.context_id);
    const signalled = Promise.withResolvers<unknown>();
    await api.bus.subscribe(controlSignalsTo(owner), (message) => signalled.resolve(message));
    api.statements.length = 0;
    const { status, body } = await cancel({ context_id: worker.context_id, reason: 'enough' });
    expect([status, body]).toEqual([200, { count: 301 }]);
    // Found, locked for control, its calls locked, read, withdrawn and a stop request written: however many are queued.
    expect(api.statements.filter((text) => text !== 'begin' && text !== 'commit')).toHaveLength(8);
    expect(await signalled.promise).toMatchObject({ contextId: worker.context_id });
    expect(await statusOf(queued[0] ?? '')).toBe('cancelled');
    expect(await statusOf(queued.at(-1) ?? '')).toBe('cancelled');
    expect(await statusOf(running)).toBe('running');
    expect((await api.post(`/api/jobs/${running}/cancel`)).body.requested_at).not.toBeNull();
    expect(await statusOf(left)).toBe('queued');
    const listed = await api.get(`/api/contexts/${worker.context_id}/messages?limit=200`);
    expect(listed.body.data).toHaveLength(1);
    // Jobs with a stop request get no second one, and the running job ends.
    expect((await cancel({ context_id: worker.context_id })).body).toEqual({ count: 0 });
    await manual.settle({ status: 'cancelled', reason: 'enough' });
    expect(await statusOf(running)).toBe('cancelled');
  });

  test('ends waiting jobs, and wakes the contexts that wait for them', async () => {
    const worker = await api.worker();
    const id = await post(worker.context_id);
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    await manual.delay(Date.now() + 3_600_000);
    await manual.sleep(Date.now() + 3_600_000);
    const poll = api.get(`/api/jobs/${id}?wait_ms=60000`);
    expect((await cancel({ context_id: worker.context_id, status: 'queued' })).body).toEqual({ count: 0 });
    expect((await cancel({ context_id: worker.context_id, status: 'waiting' })).body).toEqual({ count: 1 });
    expect((await poll).body.status).toBe('cancelled');
  });

  test('leaves ended jobs unchanged', async () => {
    const worker = await api.worker();
    const id = await converse(api, worker.context_id, owner, 'hello', 'hi');
    expect((await cancel({ context_id: worker.context_id })).body).toEqual({ count: 0 });
    expect(await statusOf(id)).toBe('completed');
  });
});

describe('a filter', () => {
  test('by worker reaches the whole tree below it, and no other', async () => {
    const root = await make({});
    const child = await make({ parent_worker_id: root.id });
    const grandchild = await make({ parent_worker_id: child.id });
    const sibling = await make({ parent_worker_id: root.id });
    const ids = [];
    for (const { context_id } of [child, grandchild, sibling]) ids.push(...(await posts(context_id, 3)));
    expect((await cancel({ worker_id: child.id })).body).toEqual({ count: 6 });
    expect(await Promise.all(ids.map(statusOf))).toEqual([
      ...Array.from({ length: 6 }, () => 'cancelled'),
      ...Array.from({ length: 3 }, () => 'queued'),
    ]);
    expect((await cancel({ worker_id: root.id })).body).toEqual({ count: 3 });
  });

  test('by role, kind and metadata matches jobs with all of them', async () => {
    const coder = await make({ role: 'coder' });
    const plain = await make({});
    const batch = v7();
    const wanted = await post(coder.context_id, { metadata: { batch, n: 1, deep: { a: [1, 2] } } });
    await post(coder.context_id, { metadata: { batch: 'other' } });
    const elsewhere = await post(plain.context_id, { metadata: { batch } });
    await api.post(`/api/contexts/${coder.context_id}/jobs`, { metadata: { batch } });
    expect((await cancel({ role: 'coder', kind: 'compact' })).body).toEqual({ count: 0 });
    expect((await cancel({ role: 'coder', kind: 'input', metadata: { batch, deep: { a: [2] } } })).body).toEqual({
      count: 1,
    });
    expect(await statusOf(wanted)).toBe('cancelled');
    expect(await statusOf(elsewhere)).toBe('queued');
    expect((await cancel({ metadata: { batch } })).body).toEqual({ count: 2 });
    expect((await cancel({ role: 'coder' })).body).toEqual({ count: 1 });
  });

  test.each([
    [{}, null],
    [{ reason: 'why' }, null],
    [{ metadata: {} }, 'metadata'],
    [{ status: 'completed' }, 'status'],
    [{ context_id: 'x' }, 'context_id'],
    [{ everything: true }, 'everything'],
  ])('that is empty or invalid is refused: %j', async (filter, param) => {
    const worker = await api.worker();
    const id = await post(worker.context_id);
    const refused = await cancel(filter);
    expect(refused.status).toBe(422);
    expect(refused.body.error).toMatchObject({ code: 'invalid_request', param });
    expect(await statusOf(id)).toBe('queued');
  });

  test('finds no job of another tenant', async () => {
    const shared = await openApi({ NIGHTSHIFT_API_KEYS: 'ours:acme,theirs:globex' });
    const { body: worker } = await shared.post('/api/workers', { name: 'w' }, OURS);
    const { body } = await shared.post(`/api/workers/${worker.id}/messages`, { content: 'x' }, OURS);
    for (const filter of [{ context_id: worker.context_id }, { worker_id: worker.id }, { kind: 'input' }]) {
      const asked = await shared.post('/api/jobs/cancel', filter, { authorization: 'Bearer theirs' });
      expect(asked.body).toEqual({ count: 0 });
    }
    expect((await shared.get(`/api/jobs/${body.job_id}`, OURS)).body.status).toBe('queued');
    await shared.close();
  });
});

describe('of many contexts', () => {
  const batch = async (contexts: number): Promise<string> => {
    const name = v7();
    const workers = await Promise.all(Array.from({ length: contexts }, () => api.worker()));
    await Promise.all(workers.map(({ context_id }) => posts(context_id, 2, { metadata: { name } })));
    return name;
  };

  test('hundreds of jobs are cancelled, page by page', async () => {
    const name = await batch(250);
    api.statements.length = 0;
    expect((await cancel({ metadata: { name } })).body).toEqual({ count: 500 });
    const sent = api.statements.filter((text) => text !== 'begin' && text !== 'commit');
    expect(sent).toHaveLength(2 + 250 * 5);
    const queued = await api.get('/api/jobs?status=queued&limit=200');
    expect(queued.body.data.filter(({ metadata }: Body) => metadata.name === name)).toEqual([]);
  });

  test('may take longer than other requests', async () => {
    const own = await createTestDatabase();
    const patient = await openApi({}, own.url);
    const env = { NIGHTSHIFT_REQUEST_MS: '1', NIGHTSHIFT_API_KEYS: 'key:default' };
    const hasty = withKey(await openApi(env, own.url), 'key');
    const workers = await Promise.all(Array.from({ length: 20 }, () => patient.worker()));
    for (const { id } of workers) await patient.post(`/api/workers/${id}/messages`, { content: 'x' });
    // The look-up of the tenant takes too long for the first requests; a later one finds it done.
    const cancelled = async () => (await hasty.post('/api/jobs/cancel', { kind: 'input' })).body;
    await expect.poll(cancelled, { interval: 20 }).toEqual({ count: 20 });
    await patient.close();
    await hasty.close();
    await own.drop();
  });

  test('several requests at once count each job once', async () => {
    const name = await batch(40);
    const answers = await Promise.all([1, 2, 3].map(() => cancel({ metadata: { name } })));
    expect(answers.reduce((sum, { body }) => sum + body.count, 0)).toBe(80);
  });

  test('cut off in the middle, a repeated request continues', async () => {
    const name = await batch(30);
    let left = 12;
    const database = {
      ...api.database,
      transaction: <T>(work: Parameters<typeof api.database.transaction<T>>[0]) => {
        if ((left -= 1) < 0) throw new Error('the process died');
        return api.database.transaction(work);
      },
    };
    const filter = { ...ALL_UNFINISHED, metadata: { name } };
    const wanted = { tenantId: DEFAULT_TENANT, filter, reason: null, by: null };
    await expect(cancelJobs({ ...api.commands, database }, wanted)).rejects.toThrow('the process died');
    expect((await cancel({ metadata: { name } })).body).toEqual({ count: 60 - 2 * 12 });
  });

  test('an Idempotency-Key gives the first answer again', async () => {
    const name = await batch(2);
    const key = { 'idempotency-key': v7() };
    const [first, again] = [await cancel({ metadata: { name } }, key), await cancel({ metadata: { name } }, key)];
    expect([first.body, again.body]).toEqual([{ count: 4 }, { count: 4 }]);
    expect((await cancel({ kind: 'input' }, key)).body.error.code).toBe('idempotency_conflict');
  });
});
