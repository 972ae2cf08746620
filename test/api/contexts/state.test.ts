// GET state: the state of a context, what it waits for, and why, in every situation.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sql } from 'drizzle-orm';
import type { ProcessId, ToolCallId } from '../../../src/core/ids.ts';
import { addProcess, take } from '../manual-worker.ts';
import { ids, openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
let worker: Body;
beforeAll(async () => {
  api = await openApi();
  owner = await addProcess(api, { tools: ['mail'] });
});
beforeEach(async () => {
  worker = await api.worker({ model: 'simulated/x' });
});
afterAll(() => api.close());

const state = async (): Promise<Body> => (await api.get(`/api/contexts/${worker.context_id}/state`)).body;
const shown = async (): Promise<string> => (await api.get(`/api/contexts/${worker.context_id}`)).body.state;
const post = async (): Promise<Body> =>
  (await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'hello' })).body;
const later = (): number => Date.now() + 60_000;

describe('the state of a context', () => {
  test('that is idle', async () => {
    expect(await state()).toEqual({
      state: 'Idle',
      since: expect.any(String),
      job_id: null,
      attempt: null,
      waiting_for: [],
      queue_position: null,
      why: 'The context is idle: no input is queued.',
    });
  });

  test('whose input waits for a process', async () => {
    const first = await api.worker();
    await api.post(`/api/contexts/${first.context_id}/messages`, { content: 'before' });
    const { job_id } = await post();
    const found = await state();
    expect(found).toMatchObject({ state: 'ProcessingUserMessage', job_id, attempt: 0 });
    expect(found.queue_position).toBeGreaterThan(1);
    expect(found.why).toBe(
      `The job waits for a free worker process, at position ${found.queue_position} of this tenant.`,
    );
    expect(await shown()).toBe('ProcessingUserMessage');
    const { body: job } = await api.get(`/api/jobs/${job_id}`);
    expect(found.since).toBe(job.created_at);
  });

  test('that waits for the model', async () => {
    const { job_id } = await post();
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    expect(await state()).toMatchObject({
      state: 'AwaitingLLMResponse',
      job_id,
      attempt: 1,
      queue_position: null,
      why: 'The job waits for the answer of the model.',
    });
  });

  test('that runs tools', async () => {
    await post();
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    await manual.answer([{ type: 'tool_use', id: ids.next<ToolCallId>(), name: 'mail', input: {} }]);
    expect(await state()).toMatchObject({ state: 'ExecutingTools', why: 'The job runs tools: mail.' });
  });

  test('whose model call is made again later', async () => {
    await post();
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    const at = later();
    await manual.delay(at);
    const until = new Date(at).toISOString();
    const why = `The last model call failed (provider_overloaded: too busy). The next attempt is at ${until}.`;
    const waiting_for = [{ kind: 'timer', until }];
    expect(await state()).toMatchObject({ state: 'TransientFailure', attempt: 2, waiting_for, why });
    await manual.sleep(at);
    expect(await state()).toMatchObject({ state: 'TransientFailure', waiting_for, why });
    const { body } = await api.get(`/api/jobs?context_id=${worker.context_id}`);
    expect(body.data[0]).toMatchObject({ status: 'waiting', retry_at: until, waiting_for, error: null });
  });

  test('whose model is throttled', async () => {
    const { job_id } = await post();
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    const [until, at] = [later(), later() + 400].map((time) => new Date(time).toISOString());
    await manual.throttledUntil(Date.parse(until ?? ''), Date.parse(at ?? ''));
    expect(await state()).toMatchObject({
      state: 'TransientFailure',
      attempt: 1,
      waiting_for: [{ kind: 'timer', until: at }],
      why: `The model anthropic/m is throttled until ${until} (rate limited). The next model call is at ${at}.`,
    });
    const { body } = await api.get(`/api/jobs/${job_id}`);
    expect(body).toMatchObject({ status: 'waiting', attempt: 1, retry_at: at, error: null });
  });

  test('whose provider key lets calls in one after the other', async () => {
    await post();
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    const [until, at] = [Date.now() - 50, later()];
    await manual.throttledUntil(until, at);
    expect((await state()).why).toBe(
      `The model anthropic/m was throttled until ${new Date(until).toISOString()} (rate limited) and admits calls one at a time. The next model call is at ${new Date(at).toISOString()}.`,
    );
    await manual.throttledUntil(until, Date.now() - 1);
    expect((await state()).why).toBe('The retry time has passed. The job waits for a free worker process.');
  });

  test('whose model call is being made again', async () => {
    await post();
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    const at = Date.now() - 1_000;
    await manual.delay(at);
    const found = await state();
    expect(found).toMatchObject({ state: 'AwaitingLLMResponse', waiting_for: [] });
    expect(found.why).toBe('The job waits for the answer of the model (attempt 2).');
    expect(await shown()).toBe('AwaitingLLMResponse');
  });

  test.each(['No key.', 'No key'])('whose last job failed: %s', async (message) => {
    await post();
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    await manual.settle({ status: 'failed', error: { code: 'provider_auth', message } });
    expect(await state()).toMatchObject({
      state: 'PermanentFailure',
      job_id: null,
      why: 'The last job failed (provider_auth): No key. Post a new input or retry to continue.',
    });
  });

  test('whose worker is stopped', async () => {
    await post();
    await post();
    await api.post(`/api/workers/${worker.id}/stop`);
    const found = await state();
    expect(found.state).toBe('Stopped');
    expect(found.why).toBe('The worker is stopped, 2 inputs are queued. Start the worker to continue.');
  });

  test('whose job has a stop request', async () => {
    const { job_id } = await post();
    const manual = await take(api, worker.context_id, owner);
    await manual.admit();
    await api.post(`/api/jobs/${job_id}/cancel`);
    expect((await state()).why).toBe('A stop request was accepted. The job is stopping.');
  });

  test('that names something no live process supports', async () => {
    await api.database.db.execute(
      sql`update workers set config = '{"tools": ["gone"]}', role = 'nobody' where id = ${worker.id}`,
    );
    await post();
    expect((await state()).why).toBe('No live worker process serves role "nobody", tool "gone".');
    const manual = await take(api, worker.context_id, owner);
    await manual.releaseUntil(later());
    expect((await state()).why).toMatch(/^No live worker process serves .* The next check is at 20/);
  });

  test('whose process is gone', async () => {
    await post();
    const mortal = await addProcess(api);
    const manual = await take(api, worker.context_id, mortal);
    await manual.admit();
    await api.database.db.execute(sql`update processes set dead_at = now() where id = ${mortal}`);
    expect((await state()).why).toBe('The worker process that ran the job is gone. Another one takes over soon.');
  });

  test('while all worker processes are paused or drain', async () => {
    await post();
    await api.database.db.execute(sql`update processes set status = 'paused', requested_status = 'paused'`);
    expect((await state()).why).toBe('All worker processes are paused or draining: resume one, or start another.');
    await api.database.db.execute(sql`update processes set status = 'running', requested_status = 'running'`);
    expect((await state()).why).toMatch(/^The job waits for a free worker process, at position /);
  });

  test('without any worker process', async () => {
    await post();
    await api.database.db.execute(sql`update processes set dead_at = now()`);
    expect((await state()).why).toBe('No worker process is running: start one with `nightshift worker`.');
    await api.database.db.execute(sql`update processes set dead_at = null`);
  });
});
