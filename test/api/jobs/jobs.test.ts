import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { v7 } from 'uuid';
import type { ProcessId } from '../../../src/core/ids.ts';
import { addProcess, converse, take } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';
import { tagOf } from '../../services/statements.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi();
  owner = await addProcess(api);
});
afterAll(() => api.close());

const post = async (contextId: string): Promise<string> =>
  (await api.post(`/api/contexts/${contextId}/messages`, { content: 'hello' })).body.job_id;

describe('a job', () => {
  test('that completed shows its answer and what it cost', async () => {
    const worker = await api.worker();
    const id = await converse(api, worker.context_id, owner, 'hello', 'Hi \0\ud800 there.');
    const { status, body } = await api.get(`/api/jobs/${id}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      id,
      kind: 'input',
      context_id: worker.context_id,
      context_title: null,
      worker_id: worker.id,
      worker_name: worker.name,
      role: null,
      model: expect.stringMatching(/^simulated\//),
      user: null,
      branch: 'main',
      input: { message_id: expect.any(String), text: 'hello' },
      status: 'completed',
      attempt: 1,
      retry_at: null,
      steps: 1,
      usage: {
        input_tokens: 10,
        output_tokens: 5,
        cache_read_tokens: 2,
        cache_write_tokens: 1,
        cache_hit_ratio: 0.1538,
        cost: null,
      },
      waiting_for: [],
      output: { message_id: expect.any(String), text: 'Hi \0\ud800 there.', data: null },
      error: null,
      compaction: null,
      parent_job_id: null,
      created_at: expect.any(String),
      starts_at: null,
      started_at: expect.any(String),
      finished_at: expect.any(String),
      metadata: {},
    });
  });

  test('that failed shows the reason', async () => {
    const worker = await api.worker();
    const id = await post(worker.context_id);
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    await manual.settle({ status: 'failed', error: { code: 'prompt_too_long', message: 'Too long.' } });
    const { body } = await api.get(`/api/jobs/${id}`);
    expect(body).toMatchObject({
      status: 'failed',
      output: null,
      error: { code: 'prompt_too_long', message: 'Too long.' },
    });
  });
});

describe('a long poll', () => {
  test('answers as soon as the job ends, by the bus', async () => {
    const worker = await api.worker();
    const id = await post(worker.context_id);
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    const polls = [1, 2, 3].map(() => api.get(`/api/jobs/${id}?wait_ms=60000`));
    await manual.complete('done');
    for (const { body } of await Promise.all(polls)) expect(body.status).toBe('completed');
  });

  test('answers without a message of the bus, by polling', async () => {
    const worker = await api.worker();
    const id = await post(worker.context_id);
    const manual = await take({ ...api, bus: { ...api.bus, publish: () => undefined } }, worker.context_id, owner);
    await manual.admit();
    const polls = [1, 2, 3].map(() => api.get(`/api/jobs/${id}?wait_ms=60000`));
    await manual.complete('done');
    for (const { body } of await Promise.all(polls)) expect(body.status).toBe('completed');
  });

  test('ends in time where the job does not', async () => {
    const worker = await api.worker();
    const id = await post(worker.context_id);
    const began = performance.now();
    const { status, body } = await api.get(`/api/jobs/${id}?wait_ms=150`);
    expect(performance.now() - began).toBeGreaterThanOrEqual(149);
    expect(status).toBe(200);
    expect(body.status).toBe('queued');
  });

  test('of an ended job answers at once', async () => {
    const worker = await api.worker();
    const id = await converse(api, worker.context_id, owner, 'hello', 'hi');
    api.statements.length = 0;
    expect((await api.get(`/api/jobs/${id}?wait_ms=60000`)).body.status).toBe('completed');
    expect(api.statements.map(tagOf)).toEqual(['jobs.read_arrived', 'jobs.find']);
  });

  test('answers 404 when the job is deleted meanwhile', async () => {
    const worker = await api.worker();
    const id = await post(worker.context_id);
    const poll = api.get(`/api/jobs/${id}?wait_ms=60000`);
    await api.call('DELETE', `/api/workers/${worker.id}`);
    expect((await poll).status).toBe(404);
  });

  test.each(['60001', '-1', 'soon', '1.5', ''])('refuses to wait for "%s"', async (wait) => {
    const { status, body } = await api.get(`/api/jobs/${v7()}?wait_ms=${wait}`);
    expect(status).toBe(422);
    expect(body.error).toMatchObject({ code: 'invalid_request', param: 'wait_ms' });
  });

  test('refuses an unknown end of the wait', async () => {
    const { status, body } = await api.get(`/api/jobs/${v7()}?wait_ms=10&until=soon`);
    expect([status, body.error.code, body.error.param]).toEqual([422, 'invalid_request', 'until']);
  });

  test('costs nothing without a waiting client', async () => {
    const worker = await api.worker();
    const id = await post(worker.context_id);
    await api.get(`/api/jobs/${id}?wait_ms=20`);
    api.statements.length = 0;
    // Longer than the polling interval.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(api.statements).toEqual([]);
  });
});

describe('cancel', () => {
  test('of a queued job is done at once, with a receipt', async () => {
    const worker = await api.worker();
    const id = await post(worker.context_id);
    const { status, body } = await api.post(`/api/jobs/${id}/cancel`, { reason: 'changed my mind' });
    expect(status).toBe(200);
    expect(body).toEqual({
      job_id: id,
      status: 'cancelled',
      requested_at: expect.any(String),
      delivered_at: expect.any(String),
      stopped_at: expect.any(String),
    });
    expect((await api.get(`/api/jobs/${id}`)).body).toMatchObject({ status: 'cancelled', error: null });
  });

  test('of all queued jobs leaves the context idle, not busy', async () => {
    const worker = await api.worker();
    const path = `/api/contexts/${worker.context_id}/messages`;
    const ids = [await post(worker.context_id), await post(worker.context_id)];
    for (const id of ids) await api.post(`/api/jobs/${id}/cancel`);
    expect((await api.get(`/api/workers/${worker.id}`)).body.state).toBe('inactive');
    const { body } = await api.get(`/api/contexts/${worker.context_id}/state`);
    expect(body).toMatchObject({
      state: 'Idle',
      queue_position: null,
      why: expect.stringMatching(/no input is queued/),
    });
    expect((await api.post(path, { content: 'x', delivery: 'reject' })).status).toBe(202);
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    await manual.complete('done');
  });

  test('of jobs queued behind a running one leaves that one running', async () => {
    const worker = await api.worker();
    const path = `/api/contexts/${worker.context_id}/messages`;
    await post(worker.context_id);
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    await manual.releaseUntil(null);
    await api.post(`/api/jobs/${await post(worker.context_id)}/cancel`);
    expect((await api.post(path, { content: 'x', delivery: 'reject' })).status).toBe(409);
    expect((await api.get(`/api/workers/${worker.id}`)).body.state).toBe('working');
    await (await take(api, worker.context_id, owner)).complete('done');
  });

  test('of a running job writes a stop request, and waits for its end where requested', async () => {
    const worker = await api.worker();
    const id = await post(worker.context_id);
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    const cancelling = await api.post(`/api/jobs/${id}/cancel`);
    expect(cancelling.body).toMatchObject({
      status: 'running',
      requested_at: expect.any(String),
      stopped_at: null,
    });
    api.statements.length = 0;
    const waited = api.post(`/api/jobs/${id}/cancel`, { wait_ms: 60_000 });
    // It has the context's row, or has given it back. Had the run left before, this request would have settled the job.
    await expect.poll(() => api.statements).toContain('commit');
    const later = await take(api, worker.context_id, await addProcess(api)).catch(() => null);
    expect(later).toBeNull();
    await manual.releaseUntil(null);
    const next = await take(api, worker.context_id, owner);
    await next.settle({ status: 'cancelled', reason: null });
    const receipt = await waited;
    expect(receipt.body).toMatchObject({ status: 'cancelled', stopped_at: expect.any(String) });
    expect(receipt.body.requested_at).toBe(cancelling.body.requested_at);
  });

  test('of a waiting job is settled at once, without a run', async () => {
    const worker = await api.worker();
    const id = await post(worker.context_id);
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    await manual.delay(Date.now() + 60_000);
    await manual.sleep(Date.now() + 60_000);
    const { body } = await api.post(`/api/jobs/${id}/cancel`, {});
    const time = expect.any(String);
    expect(body).toMatchObject({
      status: 'cancelled',
      requested_at: time,
      delivered_at: time,
      stopped_at: time,
    });
    expect((await api.get(`/api/contexts/${worker.context_id}`)).body.state).toBe('Idle');
  });

  test('of an ended job shows how it ended', async () => {
    const worker = await api.worker();
    const id = await converse(api, worker.context_id, owner, 'hello', 'hi');
    const { status, body } = await api.post(`/api/jobs/${id}/cancel`, { wait_ms: 1_000 });
    expect(status).toBe(200);
    expect(body).toEqual({
      job_id: id,
      status: 'completed',
      requested_at: null,
      delivered_at: null,
      stopped_at: null,
    });
  });

  test('of a missing job is 404', async () => {
    expect((await api.post(`/api/jobs/${v7()}/cancel`)).status).toBe(404);
  });
});

describe('the list of jobs', () => {
  test('is newest first, and filtered', async () => {
    const [one, two] = [await api.worker(), await api.worker()];
    const first = await converse(api, one.context_id, owner, 'hello', 'hi');
    const second = await post(one.context_id);
    const third = await post(two.context_id);
    const list = async (query: string): Promise<string[]> =>
      (await api.get(`/api/jobs?${query}`)).body.data.map((job: Body) => job.id);
    expect(await list('limit=3')).toEqual([third, second, first]);
    expect(await list(`context_id=${one.context_id}`)).toEqual([second, first]);
    expect(await list(`worker_id=${two.id.toUpperCase()}`)).toEqual([third]);
    expect(await list(`context_id=${one.context_id}&status=completed`)).toEqual([first]);
    expect(await list(`parent_job_id=${v7()}`)).toEqual([]);
    const { body } = await api.get(`/api/jobs/${second}`);
    expect(await list(`context_id=${one.context_id}&created_after=${body.created_at}`)).toEqual([]);
    const before = new Date(Date.parse(body.created_at) - 1).toISOString();
    expect(await list(`context_id=${one.context_id}&created_after=${before}`)).toEqual([second]);
  });

  test.each([
    ['status=done', 'status'],
    ['context_id=urn:uuid:00000000-0000-7000-8000-000000000000', 'context_id'],
    ['worker_id=me', 'worker_id'],
    ['created_after=yesterday', 'created_after'],
    ['created_after=1969-01-01T00:00:00Z', 'created_after'],
    ['limit=201', 'limit'],
    ['limit=0', 'limit'],
    ['cursor=nonsense', 'cursor'],
    ['colour=red', 'colour'],
    ['kind=input&kind=retry', 'kind'],
  ])('refuses %s', async (query, param) => {
    const { status, body } = await api.get(`/api/jobs?${query}`);
    expect(status).toBe(422);
    expect(body.error).toMatchObject({ code: 'invalid_request', param });
  });
});
