import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { v7 } from 'uuid';
import { addProcess, converse, take } from '../manual-worker.ts';
import { isQuery, openApi, type Api } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

describe('a worker', () => {
  test('is made with its context, as requested', async () => {
    const config = {
      model: 'simulated/x',
      streaming: false,
      system_prompt: 'Be brief.\0',
      mode: 'act',
      tools: [],
      max_tokens: 5,
      max_steps: 7,
      parameters: { temperature: 0.5, nested: { a: [1, null, true] } },
    };
    const { status, headers, body } = await api.post('/api/workers', { name: 'ada', config });
    expect(status).toBe(201);
    expect(headers['etag']).toBe('"1"');
    expect(headers['location']).toBe(`/api/workers/${body.id}`);
    expect(body).toEqual({
      id: expect.any(String),
      name: 'ada',
      user: null,
      role: null,
      role_version: null,
      config,
      state: 'inactive',
      last_failure: null,
      context_id: expect.any(String),
      parent_worker_id: null,
      depth: 0,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    // Stored times are rounded to milliseconds.
    expect(Date.parse(body.created_at)).toBeLessThanOrEqual(Date.now() + 1);
    const got = await api.get(`/api/workers/${body.id}`);
    expect(got.status).toBe(200);
    expect(got.body).toEqual(body);
    expect(got.headers['etag']).toBe('"1"');
    const context = await api.get(`/api/contexts/${body.context_id}`);
    expect(context.body).toMatchObject({ worker_id: body.id, config, title: null, state: 'Idle' });
  });

  test('may have a parent, and is one level deeper', async () => {
    const parent = await api.worker();
    const { status, body } = await api.post('/api/workers', { name: 'child', parent_worker_id: parent.id });
    expect(status).toBe(201);
    expect(body).toMatchObject({ parent_worker_id: parent.id, depth: 1 });
    const children = await api.get(`/api/workers?parent_worker_id=${parent.id}`);
    expect(children.body.data.map((one: { id: string }) => one.id)).toEqual([body.id]);
  });

  test.each([v7(), 'nobody'])('cannot be the child of a missing one (%s)', async (parent) => {
    const { status, body } = await api.post('/api/workers', { name: 'orphan', parent_worker_id: parent });
    expect(status).toBe(404);
    expect(body.error).toMatchObject({ code: 'not_found', param: 'parent_worker_id' });
  });

  test('is read by one statement', async () => {
    const worker = await api.worker();
    api.statements.length = 0;
    await api.get(`/api/workers/${worker.id}`);
    await api.get('/api/workers');
    await api.get(`/api/contexts/${worker.context_id}`);
    await api.get('/api/contexts');
    await api.get(`/api/contexts/${worker.context_id}/messages`);
    await api.get('/api/jobs');
    expect(api.statements.filter(isQuery)).toHaveLength(6);
  });

  test('changes by PATCH, member by member, and null removes one', async () => {
    const worker = await api.worker({ model: 'simulated/x', max_steps: 3, parameters: { a: 1, b: 2 } });
    const path = `/api/workers/${worker.id}`;
    // Two times within one millisecond would look the same.
    await api.database.db.execute(
      `update workers set updated_at = updated_at - interval '1 hour' where id = '${worker.id}'`,
    );
    const patched = await api.call('PATCH', path, {
      name: 'new name',
      config: { max_steps: null, max_tokens: 9, parameters: { c: 3 } },
    });
    expect(patched.status).toBe(200);
    expect(patched.headers['etag']).toBe('"2"');
    expect(patched.body).toMatchObject({ id: worker.id, name: 'new name' });
    expect(patched.body.config).toEqual({ model: 'simulated/x', max_tokens: 9, parameters: { c: 3 } });
    expect((await api.get(path)).body).toEqual(patched.body);
    expect(patched.body.updated_at >= worker.updated_at).toBe(true);
  });

  test('is not changed by an empty PATCH', async () => {
    const worker = await api.worker({ max_steps: 3 });
    for (const body of [{}, undefined]) {
      const patched = await api.call('PATCH', `/api/workers/${worker.id}`, body);
      expect(patched.status).toBe(200);
      expect(patched.body).toEqual(worker);
      expect(patched.headers['etag']).toBe('"1"');
    }
  });

  test('is deleted permanently, with all below it', async () => {
    const parent = await api.worker();
    const { body: child } = await api.post('/api/workers', { name: 'child', parent_worker_id: parent.id });
    const posted = await api.post(`/api/workers/${child.id}/messages`, { content: 'hello' });
    const gone = await api.call('DELETE', `/api/workers/${parent.id}`);
    expect(gone.status).toBe(204);
    for (const path of [
      `/api/workers/${parent.id}`,
      `/api/workers/${child.id}`,
      `/api/contexts/${parent.context_id}`,
      `/api/contexts/${child.context_id}/messages`,
      `/api/jobs/${posted.body.job_id}`,
    ]) {
      expect((await api.get(path)).status).toBe(404);
    }
    expect((await api.call('DELETE', `/api/workers/${parent.id}`)).status).toBe(404);
  });

  test('that is stopped refuses input until it is started', async () => {
    const worker = await api.worker();
    const stopped = await api.post(`/api/workers/${worker.id}/stop`);
    expect(stopped.status).toBe(200);
    expect(stopped.body.state).toBe('stopped');
    expect((await api.post(`/api/workers/${worker.id}/stop`)).body.state).toBe('stopped');
    const refused = await api.post(`/api/workers/${worker.id}/messages`, { content: 'hello' });
    expect(refused.status).toBe(409);
    expect(refused.headers['x-should-retry']).toBe('false');
    expect(refused.body.error.code).toBe('worker_stopped');
    const started = await api.post(`/api/workers/${worker.id}/start`);
    expect(started.body.state).toBe('inactive');
    expect((await api.post(`/api/workers/${worker.id}/messages`, { content: 'hello' })).status).toBe(202);
  });

  test('that is started sends a wake-up for queued inputs', async () => {
    const worker = await api.worker();
    await api.post(`/api/workers/${worker.id}/messages`, { content: 'hello' });
    await api.post(`/api/workers/${worker.id}/stop`);
    api.wakeUps.length = 0;
    await api.post(`/api/workers/${worker.id}/start`);
    expect(api.wakeUps.map((notify) => notify.contextId)).toEqual([worker.context_id]);
  });

  test('shows its current work', async () => {
    const owner = await addProcess(api);
    const worker = await api.worker();
    const state = async () => (await api.get(`/api/workers/${worker.id}`)).body.state;
    expect(await state()).toBe('inactive');
    await api.post(`/api/workers/${worker.id}/messages`, { content: 'hello' });
    expect(await state()).toBe('working');
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    expect(await state()).toBe('working');
    await manual.delay(Date.now() + 60_000);
    await manual.sleep(Date.now() + 60_000);
    expect(await state()).toBe('waiting');
  });

  test('shows why its last job failed, until one completes', async () => {
    const owner = await addProcess(api);
    const worker = await api.worker();
    const { body: accepted } = await api.post(`/api/workers/${worker.id}/messages`, { content: 'hello' });
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    await manual.settle({ status: 'failed', error: { code: 'provider_auth', message: 'no key' } });
    const failed = await api.get(`/api/workers/${worker.id}`);
    expect(failed.body.state).toBe('failed');
    expect(failed.body.last_failure).toEqual({
      code: 'provider_auth',
      message: 'no key',
      job_id: accepted.job_id,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    await converse(api, worker.context_id, owner, 'again', 'done');
    const fine = await api.get(`/api/workers/${worker.id}`);
    expect(fine.body).toMatchObject({ state: 'inactive', last_failure: null });
  });
});

describe('the list of workers', () => {
  test('is filtered by state', async () => {
    const stopped = await api.worker();
    await api.post(`/api/workers/${stopped.id}/stop`);
    const found = await api.get('/api/workers?state=stopped&limit=200');
    expect(found.body.data.map((one: { id: string }) => one.id)).toContain(stopped.id);
    expect(found.body.data.every((one: { state: string }) => one.state === 'stopped')).toBe(true);
  });
});
