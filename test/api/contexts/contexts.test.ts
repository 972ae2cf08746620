import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addProcess, converse } from '../manual-worker.ts';
import { openApi, type Api } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

describe('a context', () => {
  test('is made with its worker, as requested', async () => {
    const { status, headers, body } = await api.post('/api/contexts', {
      title: 'Trip to Rome',
      config: { model: 'simulated/x' },
      worker: { name: 'guide' },
    });
    expect(status).toBe(201);
    expect(headers['etag']).toBe('"1"');
    expect(headers['location']).toBe(`/api/contexts/${body.id}`);
    expect(body).toEqual({
      id: expect.any(String),
      worker_id: expect.any(String),
      worker_name: 'guide',
      user: null,
      role: null,
      last_message: null,
      parent_id: null,
      title: 'Trip to Rome',
      first_input: null,
      parent_worker_id: null,
      has_children: false,
      config: { model: 'simulated/x' },
      state: 'Idle',
      active_branch: 'main',
      branches: ['main'],
      message_count: 0,
      turn_count: 0,
      request_count: 0,
      usage: {
        input_tokens: 0,
        output_tokens: 0,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        cache_hit_ratio: null,
        cost: null,
      },
      created_at: expect.any(String),
      updated_at: expect.any(String),
      expires_at: null,
      archived_at: null,
    });
    const worker = await api.get(`/api/workers/${body.worker_id}`);
    expect(worker.body).toMatchObject({ name: 'guide', context_id: body.id });
  });

  test('needs nothing to be made, not even a body', async () => {
    for (const body of [undefined, {}]) {
      const made = await api.post('/api/contexts', body);
      expect(made.status).toBe(201);
      expect(made.body).toMatchObject({ title: null, config: {} });
    }
  });

  test('accepts the config of a worker, once', async () => {
    const parent = await api.worker();
    const made = await api.post('/api/contexts', { name: 'ada', parent_worker_id: parent.id });
    const worker = await api.get(`/api/workers/${made.body.worker_id}`);
    expect(worker.body).toMatchObject({ name: 'ada', depth: 1, parent_worker_id: parent.id });
    const twice = await api.post('/api/contexts', { name: 'ada', worker: { name: 'eve' } });
    expect(twice.body.error).toMatchObject({ code: 'invalid_request', param: 'name' });
  });

  test('has its config replaced whole by PUT', async () => {
    const { body: made } = await api.post('/api/contexts', { title: 'old', config: { max_steps: 3 } });
    const path = `/api/contexts/${made.id}`;
    const put = await api.call('PUT', path, { config: { max_tokens: 5 } });
    expect(put.status).toBe(200);
    expect(put.headers['etag']).toBe('"2"');
    expect(put.body).toMatchObject({ config: { max_tokens: 5 }, title: 'old' });
    expect(put.body.config).not.toHaveProperty('max_steps');
    const titled = await api.call('PUT', path, { config: {}, title: null });
    expect(titled.body).toMatchObject({ config: {}, title: null });
    const bare = await api.call('PUT', path, {});
    expect(bare).toMatchObject({ status: 200, body: { config: {}, title: null } });
    expect(bare.headers['etag']).toBe(titled.headers['etag']);
  });

  test('has members of its config changed by PATCH', async () => {
    const { body: made } = await api.post('/api/contexts', { config: { max_steps: 3, max_tokens: 4 } });
    const patched = await api.call('PATCH', `/api/contexts/${made.id}`, {
      title: 'new',
      config: { max_steps: null },
    });
    expect(patched.body).toMatchObject({ title: 'new' });
    expect(patched.body.config).toEqual({ max_tokens: 4 });
    expect((await api.get(`/api/workers/${made.worker_id}`)).headers['etag']).toBe('"2"');
  });

  test('counts its messages', async () => {
    const owner = await addProcess(api);
    const worker = await api.worker();
    await converse(api, worker.context_id, owner, 'one', 'two');
    await converse(api, worker.context_id, owner, 'three', 'four');
    const { body } = await api.get(`/api/contexts/${worker.context_id}`);
    expect(body).toMatchObject({ message_count: 4, turn_count: 2, request_count: 2, state: 'Idle' });
    expect(body.usage).toEqual({
      input_tokens: 20,
      output_tokens: 10,
      cache_read_tokens: 4,
      cache_write_tokens: 2,
      cache_hit_ratio: 0.1538,
      cost: null,
    });
  });

  test('is deleted permanently, with its worker', async () => {
    const worker = await api.worker();
    expect((await api.call('DELETE', `/api/contexts/${worker.context_id}`)).status).toBe(204);
    expect((await api.get(`/api/workers/${worker.id}`)).status).toBe(404);
    expect((await api.call('DELETE', `/api/contexts/${worker.context_id}`)).status).toBe(404);
  });
});
