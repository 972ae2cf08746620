// Submissions in the API: a job that a service has committed is readable at once, before it is in the table of jobs.
import { sql } from 'drizzle-orm';
import { v7 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_TENANT_NAME } from '../../../src/core/ids.ts';
import { openApi, type Api } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

async function submit(body: object): Promise<string> {
  const id = v7();
  const whole = JSON.stringify({ job_id: id, message_id: v7(), ...body });
  await api.database.db.execute(sql`select nightshift_submit_v1(${DEFAULT_TENANT_NAME}, ${whole})`);
  return id;
}

test('it is a queued job, with the fields that it will have', async () => {
  const { id: worker_id, context_id } = await api.worker();
  const input = { content: 'go', user: 'ann', metadata: { order: 7 } };
  const id = await submit({ context_id, input });
  const { status, body } = await api.get(`/api/jobs/${id}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    id,
    kind: 'input',
    context_id,
    worker_id,
    user: 'ann',
    branch: 'main',
    status: 'queued',
    steps: 0,
    output: null,
    error: null,
    started_at: null,
    metadata: { order: 7 },
    worker_name: expect.any(String),
    model: expect.stringMatching(/^simulated\//),
    input: { message_id: expect.any(String), text: 'go' },
  });
  expect((await api.get('/api/jobs')).body.data).toEqual([]);
});

test('a long poll waits for it', async () => {
  const id = await submit({ context_id: v7(), worker_id: v7(), name: 'w', input: { content: 'go' } });
  const waited = api.get(`/api/jobs/${id}?wait_ms=20000`);
  await api.database.db.execute(sql`update submissions set status = 'failed', finished_at = now(),
    error = '{"code": "worker_stopped", "message": "x"}' where id = ${id}`);
  expect((await waited).body).toMatchObject({ status: 'failed', error: { code: 'worker_stopped', message: 'x' } });
});

test('one that creates its worker shows what it asks for, and without its content still which worker', async () => {
  const content = [{ type: 'text', text: 'é'.repeat(300) }];
  const worker = { name: 'ann', role: 'clerk', config: { model: 'simulated/own' } };
  const id = await submit({ context_id: v7(), worker_id: v7(), ...worker, input: { content } });
  const shown = { worker_name: 'ann', role: 'clerk', model: 'simulated/own', context_title: null };
  const { body } = await api.get(`/api/jobs/${id}`);
  expect(body).toMatchObject({ ...shown, input: { text: 'é'.repeat(200) } });
  await api.post(`/api/jobs/${id}/cancel`, {});
  expect((await api.get(`/api/jobs/${id}`)).body).toMatchObject({ ...shown, status: 'cancelled', input: { text: '' } });
});

test('a cancel ends it, and may be repeated', async () => {
  const id = await submit({ context_id: v7(), worker_id: v7(), name: 'w', input: { content: 'go' } });
  const cancel = () => api.post(`/api/jobs/${id}/cancel`, { reason: 'enough' });
  const first = await cancel();
  expect(first).toMatchObject({ status: 200, body: { job_id: id, status: 'cancelled', delivered_at: null } });
  expect((await cancel()).body).toEqual(first.body);
  expect((await api.get(`/api/jobs/${id}`)).body).toMatchObject({ status: 'cancelled', error: null });
});
