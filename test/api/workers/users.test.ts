// End users: whose a context is, on whose behalf a job runs, and what a list shows of one user.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addProcess, converse, take } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const made = async (path: string, body: object): Promise<Body> => {
  const answer = await api.post(path, body);
  expect([path, answer.status]).toEqual([path, path === '/api/chat' ? 202 : 201]);
  return answer.body;
};
const userOfJob = async (id: string) => (await api.get(`/api/jobs/${id}`)).body.user;

describe('the user of a context', () => {
  test('is named when it is made, and stays', async () => {
    const worker = await made('/api/workers', { name: 'w', user: 'ann', input: { content: 'x' } });
    expect(worker.user).toBe('ann');
    expect(await userOfJob(worker.job_id)).toBe('ann');
    expect((await api.get(`/api/contexts/${worker.context_id}`)).body.user).toBe('ann');
    expect((await api.call('PATCH', `/api/workers/${worker.id}`, { user: 'bo' })).status).toBe(422);
    const session = await made('/api/chat', { message: 'x', user: 'ann' });
    expect((await api.get(`/api/contexts/${session.session_id}`)).body.user).toBe('ann');
    const imported = await api.post('/api/contexts/import?user=ann', { entries: [] });
    expect([imported.status, imported.body.user]).toEqual([201, 'ann']);
  });

  test('is null where none is named', async () => {
    const worker = await made('/api/workers', { name: 'w', input: { content: 'x' } });
    expect([worker.user, await userOfJob(worker.job_id)]).toEqual([null, null]);
  });

  test('is that of the parent, and no other', async () => {
    const parent = await made('/api/workers', { name: 'p', user: 'cy' });
    const below = { name: 'c', parent_worker_id: parent.id };
    expect((await made('/api/workers', below)).user).toBe('cy');
    expect((await made('/api/workers', { ...below, user: 'cy' })).user).toBe('cy');
    const refused = await api.post('/api/workers', { ...below, user: 'di' });
    expect([refused.status, refused.body.error.param]).toEqual([422, 'user']);
    const ofNobody = await made('/api/workers', { name: 'p' });
    const one = { name: 'c', parent_worker_id: ofNobody.id, user: 'cy' };
    expect((await api.post('/api/workers', one)).status).toBe(422);
  });

  test('is that of the context it was forked from', async () => {
    const worker = await made('/api/workers', { name: 'w', user: 'ed' });
    await converse(api, worker.context_id, await addProcess(api), 'hello', 'hi');
    expect((await made(`/api/contexts/${worker.context_id}/fork`, {})).user).toBe('ed');
  });

  test('is in the row of each context, where slots are shared, however the context was made', async () => {
    const worker = await made('/api/workers', { name: 'w', user: 'fay' });
    await made('/api/workers', { name: 'child', parent_worker_id: worker.id });
    await made(`/api/contexts/${worker.context_id}/fork`, {});
    await made('/api/contexts', { user: 'fay' });
    await made('/api/chat', { message: 'x', user: 'fay' });
    expect((await api.post('/api/contexts/import?user=fay', { entries: [] })).status).toBe(201);
    const rows = await api.database.db.execute<{ ofContext: string; ofWorker: string | null }>(sql`
      select c.user_name as "ofContext", w.user_name as "ofWorker" from contexts c join workers w on w.context_id = c.id`);
    expect(rows.filter(({ ofWorker }) => ofWorker === 'fay')).toHaveLength(6);
    for (const { ofContext, ofWorker } of rows) expect(ofContext).toBe(ofWorker ?? '');
  });

  test('counts for the position of what waits: users take turns', async () => {
    const post = async (user?: string) =>
      (await made('/api/workers', { name: 'w', user, input: { content: 'x' } })).context_id;
    const before = await post('gil');
    const [second, other] = [await post('gil'), await post('kim')];
    const found = async (id: string) => (await api.get(`/api/contexts/${id}/state`)).body;
    expect((await found(before)).queue_position).toBe(1);
    expect(await found(second)).toMatchObject({
      queue_position: 2,
      why: 'The job waits for a free worker process, at position 2 of this user.',
    });
    expect((await found(other)).queue_position).toBe(1);
  });

  test.each([[''], ['x'.repeat(501)], [1], [null]])('%j is refused', async (user) => {
    const { status, body } = await api.post('/api/workers', { name: 'w', user });
    expect([status, body.error.param]).toEqual([422, 'user']);
  });

  test('may have any characters', async () => {
    const user = 'https://id.example.com|ünï\u{1F600}\uF8FE';
    const worker = await made('/api/workers', { name: 'w', user, input: { content: 'x' } });
    expect([worker.user, await userOfJob(worker.job_id)]).toEqual([user, user]);
    const { body } = await api.get(`/api/workers?user=${encodeURIComponent(user)}`);
    expect(body.data.map(({ id }: Body) => id)).toEqual([worker.id]);
  });
});

test('a post may be on behalf of another user than that of its context', async () => {
  const worker = await made('/api/workers', { name: 'w', user: 'flo' });
  const post = async (path: string, body: object) => {
    const { status, body: accepted } = await api.post(`/api/${path}`, body);
    expect([path, status]).toEqual([path, 202]);
    return userOfJob(accepted.job_id);
  };
  const context = `contexts/${worker.context_id}`;
  expect(await post(`${context}/messages`, { content: 'x' })).toBe('flo');
  expect(await post(`${context}/messages`, { content: 'x', user: 'gus' })).toBe('gus');
  expect(await post(`${context}/messages`, { content: 'x', user: 'gus', delivery: 'interrupt' })).toBe('gus');
  expect(await post(`${context}/jobs`, { user: 'gus' })).toBe('gus');
  expect(await post(`workers/${worker.id}/messages`, { content: 'x', user: 'gus' })).toBe('gus');
  const session = await made('/api/chat', { message: 'x', session_id: worker.context_id, user: 'gus' });
  expect(await userOfJob(session.job_id)).toBe('gus');
});

test('an input joins the running job of its user, and waits behind that of another', async () => {
  const owner = await addProcess(api);
  const worker = await made('/api/workers', { name: 'w', user: 'jo', input: { content: 'go' } });
  const manual = await take(api, worker.context_id, owner);
  await manual.admit();
  const steer = async (user?: string) => {
    const body = { content: 'x', delivery: 'steer', ...(user !== undefined && { user }) };
    return (await api.post(`/api/contexts/${worker.context_id}/messages`, body)).body;
  };
  expect(await steer('kim')).toMatchObject({ status: 'queued' });
  for (const user of [undefined, 'jo'])
    expect(await steer(user)).toMatchObject({ status: 'running', job_id: worker.job_id });
});

test('lists show what is of one user', async () => {
  const [one, two] = await Promise.all(
    ['hal', 'ida'].map((user) => made('/api/workers', { name: user, user, input: { content: 'x' } })),
  );
  const shared = await made('/api/workers', { name: 'shared' });
  const posted = await api.post(`/api/contexts/${shared.context_id}/messages`, { content: 'x', user: 'hal' });
  const idsOf = async (path: string) => (await api.get(path)).body.data.map(({ id }: Body) => id);
  expect(await idsOf('/api/workers?user=hal')).toEqual([one.id]);
  expect(await idsOf('/api/contexts?user=ida')).toEqual([two.context_id]);
  expect(await idsOf('/api/contexts?user=ida&q=ida')).toEqual([two.context_id]);
  expect(await idsOf('/api/contexts?user=ida&q=hal')).toEqual([]);
  // A job is of the user who asked for it.
  expect(await idsOf('/api/jobs?user=hal')).toEqual([posted.body.job_id, one.job_id]);
  const cancelled = await api.post('/api/jobs/cancel', { user: 'hal' });
  expect(cancelled.body).toEqual({ count: 2 });
  expect((await api.get(`/api/jobs/${two.job_id}`)).body.status).toBe('queued');
});
