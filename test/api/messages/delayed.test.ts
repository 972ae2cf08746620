// Delayed posts over HTTP: the job is answered at once, can be read, listed, waited for and cancelled, and starts later.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { releaseDueInputs } from '../../../src/commands/inputs/release-due.ts';
import { perform } from '../../../src/commands/perform.ts';
import { DEFAULT_TENANT, type ContextId } from '../../../src/core/ids.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_QUEUE_LIMIT: '3' });
});
afterAll(() => api.close());

const post = (worker: Body, body: object, headers: Record<string, string> = {}) =>
  api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'later', ...body }, headers);

async function passTime(contextId: string): Promise<void> {
  await api.database.db.execute(sql`
    update jobs set starts_at = date_trunc('milliseconds', clock_timestamp()) where context_id = ${contextId} and status = 'delayed'`);
  await perform(api.commands, releaseDueInputs({ tenantId: DEFAULT_TENANT, contextId: contextId as ContextId }));
}

describe('a delayed post', () => {
  test('is answered with its job, which shows when it starts, and sends no wake-up', async () => {
    const worker = await api.worker();
    api.wakeUps.length = 0;
    const { status, body } = await post(worker, { after_s: 600 });
    expect(status).toBe(202);
    expect(body).toMatchObject({ status: 'delayed', message_id: expect.any(String) });
    expect(api.wakeUps).toEqual([]);
    const { body: job } = await api.get(`/api/jobs/${body.job_id}`);
    expect(job).toMatchObject({ status: 'delayed', started_at: null, finished_at: null, waiting_for: [] });
    const seconds = (Date.parse(job.starts_at) - Date.parse(job.created_at)) / 1_000;
    expect(seconds).toBeGreaterThan(590);
    expect(seconds).toBeLessThan(610);
    // The context has nothing to do, and its conversation does not have the message yet.
    expect((await api.get(`/api/contexts/${worker.context_id}`)).body).toMatchObject({ state: 'Idle' });
    expect((await api.get(`/api/contexts/${worker.context_id}/messages`)).body.data).toEqual([]);
    const { body: message } = await api.get(`/api/contexts/${worker.context_id}/messages/${body.message_id}`);
    expect(message).toMatchObject({ status: 'delayed', seq: null, job_id: body.job_id });
    // A poll waits no longer than it may.
    expect((await api.get(`/api/jobs/${body.job_id}?wait_ms=50`)).body).toMatchObject({ status: 'delayed' });
  });

  test('takes a time with its zone, and lets later inputs pass', async () => {
    const worker = await api.worker();
    // Midnight in a zone that is ahead of UTC.
    const day = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
    const { body: delayed } = await post(worker, { at: `${day}T00:00:00+02:00` });
    const { body: job } = await api.get(`/api/jobs/${delayed.job_id}`);
    expect(job.starts_at).toBe(new Date(Date.parse(`${day}T00:00:00Z`) - 7_200_000).toISOString());
    const { body: queued } = await post(worker, {});
    expect(queued).toMatchObject({ status: 'queued' });
    await passTime(worker.context_id);
    const { body } = await api.get(`/api/contexts/${worker.context_id}/messages`);
    expect(body.data.map(({ job_id }: Body) => job_id)).toEqual([queued.job_id, delayed.job_id]);
    expect((await api.get(`/api/jobs/${delayed.job_id}`)).body).toMatchObject({ status: 'queued' });
  });

  test('is listed by its status, alone and among the unfinished ones, and cancelled by it', async () => {
    const worker = await api.worker();
    const { body: one } = await post(worker, { after_s: 600, metadata: { batch: 1 } });
    const { body: other } = await post(worker, { after_s: 600 });
    const list = async (query: string): Promise<string[]> =>
      (await api.get(`/api/jobs?context_id=${worker.context_id}&${query}`)).body.data.map(({ id }: Body) => id);
    expect(await list('status=delayed')).toEqual([other.job_id, one.job_id]);
    expect(await list('status=delayed,queued,running')).toEqual([other.job_id, one.job_id]);
    expect(await list('status=queued')).toEqual([]);
    const { body } = await api.post('/api/jobs/cancel', { status: 'delayed', metadata: { batch: 1 } });
    expect(body).toMatchObject({ count: 1 });
    expect(await list('status=delayed')).toEqual([other.job_id]);
    const waiting = api.get(`/api/jobs/${other.job_id}?wait_ms=10000`);
    const receipt = await api.post(`/api/jobs/${other.job_id}/cancel`, {});
    expect(receipt.body).toMatchObject({ status: 'cancelled' });
    expect((await waiting).body).toMatchObject({ status: 'cancelled' });
  });

  test('is stored once for an idempotency key', async () => {
    const worker = await api.worker();
    const key = { 'idempotency-key': 'delayed-1' };
    const { body: first } = await post(worker, { after_s: 60 }, key);
    expect((await post(worker, { after_s: 60 }, key)).body).toEqual(first);
    expect((await post(worker, { after_s: 61 }, key)).body.error.code).toBe('idempotency_conflict');
    const { body } = await api.get(`/api/jobs?context_id=${worker.context_id}`);
    expect(body.data).toHaveLength(1);
  });

  test('is posted to a worker, and with a new worker', async () => {
    const worker = await api.worker();
    const toWorker = await api.post(`/api/workers/${worker.id}/messages`, { content: 'x', after_s: 60 });
    expect(toWorker.body).toMatchObject({ status: 'delayed' });
    api.wakeUps.length = 0;
    const made = await api.post('/api/workers', { name: 'ada', input: { content: 'x', after_s: 60 } });
    expect(made).toMatchObject({ status: 201, body: { state: 'inactive', job_id: expect.any(String) } });
    expect((await api.get(`/api/jobs/${made.body.job_id}`)).body).toMatchObject({ status: 'delayed' });
    expect(api.wakeUps).toEqual([]);
    const past = { content: 'x', at: '2020-01-01T00:00:00Z' };
    const { body: begun } = await api.post('/api/workers', { name: 'ada', input: past });
    expect((await api.get(`/api/jobs/${begun.job_id}`)).body).toMatchObject({ status: 'queued', starts_at: null });
    expect(api.wakeUps).toMatchObject([{ contextId: begun.context_id }]);
  });

  test('makes no worker if its input is refused', async () => {
    const before = (await api.get('/api/workers?limit=200')).body.data.length;
    const deadline = new Date(Date.now() + 1_000).toISOString();
    const refused = await api.post('/api/workers', { name: 'ada', input: { content: 'x', after_s: 60, deadline } });
    expect(refused).toMatchObject({ status: 422, body: { error: { code: 'invalid_request' } } });
    expect((await api.get('/api/workers?limit=200')).body.data).toHaveLength(before);
  });

  test.each<[object, string]>([
    [{ after_s: 0 }, 'after_s'],
    [{ after_s: -1 }, 'after_s'],
    [{ after_s: 366 * 86_400 + 1 }, 'after_s'],
    [{ after_s: 1, at: '2030-01-01T00:00:00Z' }, 'at'],
    [{ at: 'tomorrow' }, 'at'],
    [{ at: '2999-01-01T00:00:00Z' }, 'at'],
    [{ after_s: 1, delivery: 'steer' }, 'delivery'],
    [{ after_s: 1, delivery: 'interrupt' }, 'delivery'],
    [{ after_s: 1, delivery: 'reject' }, 'delivery'],
  ])('is refused as %j', async (body, param) => {
    const answer = await post(await api.worker(), body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.param).toBe(param);
  });

  test('counts towards the limit of queued inputs', async () => {
    const worker = await api.worker();
    for (let count = 0; count < 3; count += 1) expect((await post(worker, { after_s: 60 })).status).toBe(202);
    const refused = await post(worker, { after_s: 60 });
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'queue_full' } } });
    // Those that are delayed hold up no other input.
    expect((await post(worker, {})).status).toBe(202);
  });
});
