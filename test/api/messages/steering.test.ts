// Interrupts, deliveries, and queued inputs, as a client uses them. No worker process runs jobs here: `take` takes its
// place.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ContextId, ProcessId } from '../../../src/core/ids.ts';
import { addProcess, take } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_QUEUE_LIMIT: '5' });
  owner = await addProcess(api);
});
afterAll(() => api.close());

const messages = (contextId: string) => `/api/contexts/${contextId}/messages`;
const post = async (contextId: string, body: object): Promise<Body> => (await api.post(messages(contextId), body)).body;
const listed = async (contextId: string, query = ''): Promise<Body[]> =>
  (await api.get(`${messages(contextId)}${query}`)).body.data;
const texts = async (contextId: string, query = ''): Promise<string[]> =>
  (await listed(contextId, query)).map((message) => message.content[0].text);
/** A worker process takes the first input. */
const begin = async (contextId: ContextId): Promise<void> => (await take(api, contextId, owner)).admit();
const interrupt = (contextId: string, body: object = {}) => api.post(`/api/contexts/${contextId}/interrupt`, body);

describe('an interrupt', () => {
  test('whose process died before it could answer does not hit the next job when it is repeated', async () => {
    const { context_id: id } = await api.worker();
    const headers = { 'idempotency-key': `died-${id}` };
    const ask = () => api.post(`/api/contexts/${id}/interrupt`, {}, headers);
    const { job_id: first } = await post(id, { content: 'a' });
    expect((await ask()).body.job_id).toBe(first);
    await api.database.db.execute(sql`delete from idempotency_keys where key = ${`died-${id}`}`);
    const { job_id: second } = await post(id, { content: 'b' });
    expect((await ask()).body).toMatchObject({ job_id: first, status: 'interrupted' });
    expect((await api.get(`/api/jobs/${second}`)).body.status).toBe('queued');
  });

  test('of an idle context reports that nothing ran', async () => {
    const { context_id: id } = await api.worker();
    const { status, body } = await interrupt(id);
    expect(status).toBe(200);
    expect(body).toEqual({
      job_id: null,
      status: null,
      removed_messages: [],
      effects: [],
      requested_at: null,
      stopped_at: null,
    });
  });

  test.each(['discard', 'keep'])('%s of a job without a run is done when it is answered', async (mode) => {
    const { context_id: id } = await api.worker();
    const { job_id: jobId } = await post(id, { content: 'hi' });
    const { body } = await interrupt(id, { mode });
    expect(body).toMatchObject({ job_id: jobId, status: 'interrupted', removed_messages: [] });
    expect(Date.parse(body.requested_at)).toBeLessThanOrEqual(Date.parse(body.stopped_at));
    expect(await texts(id)).toEqual(['hi']);
    expect((await api.get(`/api/contexts/${id}/state`)).body).toMatchObject({ state: 'Idle', job_id: null });
  });

  test('rollback retracts the input: listed and read as such, where requested', async () => {
    const { context_id: id } = await api.worker();
    const { message_id: messageId } = await post(id, { content: 'hi' });
    const { body } = await interrupt(id, { mode: 'rollback' });
    expect(body.removed_messages).toEqual([messageId]);
    expect(await listed(id)).toEqual([]);
    expect(await listed(id, '?include=retracted')).toMatchObject([{ id: messageId, status: 'retracted' }]);
    expect((await api.get(`${messages(id)}/${messageId}`)).body.status).toBe('retracted');
    const { body: context } = await api.get(`/api/contexts/${id}`);
    expect(context).toMatchObject({ message_count: 0, turn_count: 0 });
  });

  test('of a running job is a stop request, answered when its time to wait is over', async () => {
    const { context_id: id } = await api.worker();
    const { job_id: jobId } = await post(id, { content: 'hi' });
    await begin(id);
    const { body } = await interrupt(id, { wait_ms: 0 });
    expect(body).toMatchObject({ job_id: jobId, status: 'running', stopped_at: null });
    expect(body.requested_at).not.toBeNull();
    const again = await interrupt(id, { mode: 'keep', wait_ms: 0 });
    expect(again.body).toEqual(body);
  });

  test('under one idempotency key is answered as before', async () => {
    const { context_id: id } = await api.worker();
    await post(id, { content: 'one' });
    const headers = { 'idempotency-key': `interrupt-${id}` };
    const first = await api.post(`/api/contexts/${id}/interrupt`, {}, headers);
    await post(id, { content: 'two' });
    const second = await api.post(`/api/contexts/${id}/interrupt`, {}, headers);
    expect(second.body).toEqual(first.body);
    expect(await texts(id)).toEqual(['one', 'two']);
  });

  test('of a stopped worker leaves queued inputs', async () => {
    const { id, context_id: contextId } = await api.worker();
    await post(contextId, { content: 'later' });
    await api.post(`/api/workers/${id}/stop`);
    expect((await interrupt(contextId)).body.job_id).toBeNull();
    expect(await listed(contextId)).toMatchObject([{ status: 'queued' }]);
  });

  test.each([{ mode: 'undo' }, { wait_ms: -1 }, { wait_ms: 60_001 }, { force: true }])(
    'with %j is refused',
    async (body) => {
      const { context_id: id } = await api.worker();
      expect((await interrupt(id, body)).status).toBe(422);
    },
  );
});

describe('delivery', () => {
  test('steer names the running job', async () => {
    const { context_id: id } = await api.worker();
    const { job_id: jobId } = await post(id, { content: 'first' });
    await begin(id);
    const steered = await api.post(messages(id), { content: 'second', delivery: 'steer' });
    expect(steered.status).toBe(202);
    expect(steered.body).toMatchObject({ job_id: jobId, status: 'running' });
    expect(await listed(id)).toMatchObject([
      { status: 'completed', job_id: jobId },
      { status: 'queued', job_id: jobId, id: steered.body.message_id, seq: null },
    ]);
  });

  test('steer into an idle context is a job of its own', async () => {
    const { context_id: id } = await api.worker();
    const { job_id: jobId } = await post(id, { content: 'first', delivery: 'steer' });
    expect((await api.get(`/api/jobs/${jobId}`)).body.status).toBe('queued');
  });

  test('steers count among the queued inputs of a context', async () => {
    const { context_id: id } = await api.worker();
    await post(id, { content: 'first' });
    await begin(id);
    for (let n = 0; n < 5; n += 1) await post(id, { content: 'more', delivery: 'steer' });
    for (const delivery of ['steer', 'queue', 'interrupt']) {
      const refused = await api.post(messages(id), { content: 'too many', delivery });
      expect([refused.status, refused.body.error.code]).toEqual([429, 'queue_full']);
    }
  });

  test('interrupt is next in the queue; earlier interrupts keep their order', async () => {
    const { context_id: id } = await api.worker();
    await post(id, { content: 'queued', priority: 1 });
    await post(id, { content: 'now', delivery: 'interrupt' });
    await post(id, { content: 'and then', delivery: 'interrupt' });
    expect(await texts(id)).toEqual(['now', 'and then', 'queued']);
  });

  test('interrupt writes the stop request on the running job, and signals its owner', async () => {
    const { context_id: id } = await api.worker();
    const { job_id: running } = await post(id, { content: 'first' });
    await begin(id);
    const accepted = await post(id, { content: 'now', delivery: 'interrupt' });
    expect(accepted.job_id).not.toBe(running);
    expect((await interrupt(id, { wait_ms: 0 })).body).toMatchObject({ job_id: running, status: 'running' });
  });

  test('under one idempotency key happens once', async () => {
    const { context_id: id } = await api.worker();
    await post(id, { content: 'first' });
    await begin(id);
    const body = { content: 'steered', delivery: 'steer' };
    const headers = { 'idempotency-key': `steer-${id}` };
    const first = await api.post(messages(id), body, headers);
    expect((await api.post(messages(id), body, headers)).body).toEqual(first.body);
    expect(await texts(id)).toEqual(['first', 'steered']);
  });

  test('to a stopped worker is refused in every form', async () => {
    const { id, context_id: contextId } = await api.worker();
    await api.post(`/api/workers/${id}/stop`);
    for (const delivery of ['queue', 'steer', 'interrupt', 'reject']) {
      const refused = await api.post(messages(contextId), { content: 'x', delivery });
      expect([refused.status, refused.body.error.code]).toEqual([409, 'worker_stopped']);
    }
  });
});

describe('priority', () => {
  test('orders queued inputs, and pages of them', async () => {
    const { context_id: id } = await api.worker();
    for (const [content, priority] of [
      ['c', 5],
      ['d', 10],
      ['a', 1],
      ['b', 2],
    ] as const) {
      await post(id, { content, priority });
    }
    expect(await texts(id)).toEqual(['a', 'b', 'c', 'd']);
    expect(await texts(id, '?order=desc')).toEqual(['d', 'c', 'b', 'a']);
    const first = await api.get(`${messages(id)}?limit=3`);
    expect(first.body.data).toHaveLength(3);
    expect(await texts(id, `?limit=3&cursor=${first.body.next_cursor}`)).toEqual(['d']);
  });

  test('an input more urgent than all that were read is not skipped', async () => {
    const { context_id: id } = await api.worker();
    for (const content of ['b', 'c']) await post(id, { content });
    const first = await api.get(`${messages(id)}?limit=1`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await post(id, { content: 'a', priority: 1 });
    await begin(id);
    expect(await texts(id, `?cursor=${first.body.next_cursor}`)).toEqual(['a', 'c']);
  });

  test.each([0, 11, 1.5, '1'])('%j is refused', async (priority) => {
    const { context_id: id } = await api.worker();
    const { status, body } = await api.post(messages(id), { content: 'x', priority });
    expect([status, body.error.param]).toEqual([422, 'priority']);
  });
});

describe('a queued input', () => {
  test('is edited', async () => {
    const { context_id: id } = await api.worker();
    const { message_id: messageId } = await post(id, { content: 'first' });
    const { status, body } = await api.call('PATCH', `${messages(id)}/${messageId}`, { content: 'better' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: messageId,
      status: 'queued',
      content: [{ type: 'text', text: 'better' }],
    });
  });

  test('is moved, and takes the priority of its new place', async () => {
    const { context_id: id } = await api.worker();
    await post(id, { content: 'a', priority: 1 });
    await post(id, { content: 'b' });
    const { message_id: last } = await post(id, { content: 'c', priority: 9 });
    await api.call('PATCH', `${messages(id)}/${last}`, { position: 1 });
    expect(await texts(id)).toEqual(['c', 'a', 'b']);
    await api.call('PATCH', `${messages(id)}/${last}`, { position: 2 });
    expect(await texts(id)).toEqual(['a', 'c', 'b']);
    await api.call('PATCH', `${messages(id)}/${last}`, { position: 1_000 });
    expect(await texts(id)).toEqual(['a', 'b', 'c']);
  });

  test('is withdrawn, and its job cancelled', async () => {
    const { context_id: id } = await api.worker();
    const { message_id: messageId, job_id: jobId } = await post(id, { content: 'first' });
    expect((await api.call('DELETE', `${messages(id)}/${messageId}`)).status).toBe(204);
    expect((await api.get(`/api/jobs/${jobId}`)).body.status).toBe('cancelled');
    expect(await listed(id)).toEqual([]);
    const again = await api.call('DELETE', `${messages(id)}/${messageId}`);
    expect(again.status).toBe(404);
  });

  test('that is to join a job is withdrawn without ending it', async () => {
    const { context_id: id } = await api.worker();
    const { job_id: jobId } = await post(id, { content: 'first' });
    await begin(id);
    const { message_id: messageId } = await post(id, { content: 'second', delivery: 'steer' });
    const moved = await api.call('PATCH', `${messages(id)}/${messageId}`, { position: 1 });
    expect([moved.status, moved.body.error.param]).toEqual([422, 'position']);
    expect((await api.call('DELETE', `${messages(id)}/${messageId}`)).status).toBe(204);
    expect((await api.get(`/api/jobs/${jobId}`)).body.status).toBe('running');
    expect(await texts(id)).toEqual(['first']);
  });

  test('that became history is left unchanged', async () => {
    const { context_id: id } = await api.worker();
    const { message_id: messageId } = await post(id, { content: 'first' });
    await begin(id);
    for (const [method, body] of [
      ['PATCH', { content: 'better' }],
      ['PATCH', { position: 1 }],
      ['DELETE', undefined],
    ] as const) {
      const refused = await api.call(method, `${messages(id)}/${messageId}`, body);
      expect([refused.status, refused.body.error.code]).toEqual([409, 'not_queued']);
    }
    expect(await texts(id)).toEqual(['first']);
  });

  test.each([{ position: 0 }, { position: 1.5 }, { content: '' }, { content: [] }, { status: 'completed' }])(
    'is not changed by %j',
    async (body) => {
      const { context_id: id } = await api.worker();
      const { message_id: messageId } = await post(id, { content: 'first' });
      expect((await api.call('PATCH', `${messages(id)}/${messageId}`, body)).status).toBe(422);
      expect(await texts(id)).toEqual(['first']);
    },
  );

  test('of another context is not found', async () => {
    const [here, there] = [await api.worker(), await api.worker()];
    const { message_id: messageId } = await post(here.context_id, { content: 'x' });
    const url = `${messages(there.context_id)}/${messageId}`;
    expect((await api.call('PATCH', url, { content: 'y' })).status).toBe(404);
    expect((await api.call('DELETE', url)).status).toBe(404);
  });
});
