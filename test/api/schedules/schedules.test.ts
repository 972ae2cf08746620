// Schedules over HTTP: what is accepted and refused, what is shown, who may do what.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addProcess } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';

const KEYS = 'the-key-of-acme-x:acme,the-key-of-globex:globex,a-key-that-only-runs:acme:read+run';
const as = (key: string) => ({ authorization: `Bearer ${key}` });
const ACME = as('the-key-of-acme-x');
const GLOBEX = as('the-key-of-globex');

let api: Api;
let context: string;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_API_KEYS: KEYS, NIGHTSHIFT_SECRET_KEY: 'x'.repeat(40) });
  await addProcess(api);
  context = (await api.post('/api/contexts', {}, ACME)).body.id;
});
afterAll(() => api.close());

const daily = (over: object = {}) => ({
  name: 'report',
  cron: '30 2 * * *',
  timezone: 'Europe/Berlin',
  target: { context_id: context },
  content: 'Write the report.',
  ...over,
});

async function made(over: object = {}): Promise<Body> {
  const answer = await api.post('/api/schedules', daily(over), ACME);
  expect(answer.status).toBe(201);
  return answer.body;
}

const patch = (id: string, body: object) => api.call('PATCH', `/api/schedules/${id}`, body, ACME);

describe('a schedule', () => {
  test('has defaults, and shows when it runs next', async () => {
    const { status, body, headers } = await api.post('/api/schedules', daily(), ACME);
    expect(status).toBe(201);
    expect(headers['location']).toBe(`/api/schedules/${body.id}`);
    expect(body).toEqual({
      id: expect.any(String),
      name: 'report',
      user: null,
      created_by: { kind: 'key', id: expect.stringMatching(/^env:/), user: null, on_behalf_of: null },
      cron: '30 2 * * *',
      every_s: null,
      at: null,
      timezone: 'Europe/Berlin',
      target: { context_id: context },
      content: 'Write the report.',
      overlap: 'queue',
      catch_up: 'one',
      jitter_s: 0,
      paused: false,
      paused_reason: null,
      next_run_at: expect.stringMatching(/T0[012]:(?:00|30):00[.]000Z$/),
      last_run_at: null,
      last_run: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect((await api.get(`/api/schedules/${body.id}`, ACME)).body).toEqual(body);
    const { data } = (await api.get('/api/schedules?limit=1', ACME)).body;
    expect(data).toEqual([body]);
  });

  test('runs after an interval, once at a time, or as a new worker', async () => {
    const every = await made({ cron: undefined, every_s: 60 });
    expect(Date.parse(every.next_run_at) - Date.parse(every.created_at)).toBeCloseTo(60_000, -4);
    const at = new Date(Date.now() + 3_600_000).toISOString();
    expect(await made({ cron: undefined, at })).toMatchObject({ at, next_run_at: at, cron: null });
    const worker = { name: 'w', config: { max_steps: 3 } };
    expect((await made({ target: { worker } })).target).toEqual({ worker: { role: null, ...worker } });
  });

  test('takes blocks as content, and shows them as they were given', async () => {
    const content = [{ type: 'text', text: 'a \u0000 b' }];
    expect((await made({ content })).content).toEqual(content);
  });

  test('is made once for a key of the request', async () => {
    const headers = { ...ACME, 'idempotency-key': 'one' };
    const [first, second] = [
      await api.post('/api/schedules', daily(), headers),
      await api.post('/api/schedules', daily(), headers),
    ];
    expect(second.body).toEqual(first.body);
    expect((await api.post('/api/schedules', daily({ name: 'other' }), headers)).status).toBe(422);
  });

  test('is changed: another timing replaces the one before', async () => {
    const { id } = await made();
    const { body } = await patch(id, { every_s: 90, name: 'often', overlap: 'skip' });
    expect(body).toMatchObject({
      name: 'often',
      cron: null,
      every_s: 90,
      overlap: 'skip',
      content: 'Write the report.',
    });
    expect(Date.parse(body.next_run_at) - Date.parse(body.updated_at)).toBeCloseTo(90_000, -4);
    expect((await patch(id, {})).body).toMatchObject({ every_s: 90, next_run_at: body.next_run_at });
  });

  test('is paused and resumed', async () => {
    const { id, next_run_at } = await made();
    expect((await patch(id, { paused: true })).body).toMatchObject({ paused: true, next_run_at: null });
    expect((await patch(id, { paused: false })).body).toMatchObject({ paused: false, next_run_at });
  });

  test('is deleted with its runs, and its jobs go on', async () => {
    const { id } = await made();
    const { job_id } = (await api.post(`/api/schedules/${id}/run`, undefined, ACME)).body;
    const remove = () => api.call('DELETE', `/api/schedules/${id}`, undefined, ACME);
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 404]);
    expect((await api.get(`/api/schedules/${id}/runs`, ACME)).status).toBe(404);
    expect((await api.get(`/api/jobs/${job_id}`, ACME)).body.status).toBe('queued');
  });
});

describe('a manual run', () => {
  test('posts the input once for a key of the request, and is in the log', async () => {
    const { id, next_run_at } = await made({ user: 'alice' });
    const headers = { ...ACME, 'idempotency-key': `run ${id}` };
    const ran = await api.post(`/api/schedules/${id}/run`, undefined, headers);
    expect(ran.status).toBe(202);
    expect((await api.post(`/api/schedules/${id}/run`, undefined, headers)).body).toEqual(ran.body);
    const { job_id, message_id, context_id } = ran.body;
    const { data, next_cursor } = (await api.get(`/api/schedules/${id}/runs`, ACME)).body;
    expect(next_cursor).toBeNull();
    const run = {
      id: expect.any(String),
      occurrence: null,
      missed_until: null,
      at: expect.any(String),
      status: 'started',
      job_id,
      context_id,
      message_id,
      error: null,
      manual: true,
    };
    expect(data).toEqual([run]);
    const after = (await api.get(`/api/schedules/${id}`, ACME)).body;
    expect(after).toMatchObject({ next_run_at, last_run: run, last_run_at: expect.any(String), user: 'alice' });
    expect((await api.get(`/api/jobs/${job_id}`, ACME)).body.user).toBe('alice');
    const message = await api.get(`/api/contexts/${context_id}/messages/${message_id}`, ACME);
    expect(message.body.content).toEqual([{ type: 'text', text: 'Write the report.' }]);
    expect(api.wakeUps.map(({ contextId }) => contextId)).toContain(context_id);
  });

  test('makes a worker', async () => {
    const { id } = await made({ target: { worker: { name: 'fresh' } }, user: 'bob' });
    const { context_id } = (await api.post(`/api/schedules/${id}/run`, undefined, ACME)).body;
    expect(context_id).not.toBe(context);
    expect((await api.get(`/api/contexts/${context_id}`, ACME)).body).toMatchObject({ user: 'bob' });
  });

  test('that is refused answers why', async () => {
    const { body: worker } = await api.post('/api/workers', { name: 'w' }, ACME);
    const { id } = await made({ target: { context_id: worker.context_id } });
    await api.post(`/api/workers/${worker.id}/stop`, undefined, ACME);
    const { status, body } = await api.post(`/api/schedules/${id}/run`, undefined, ACME);
    expect([status, body.error.code]).toEqual([409, 'worker_stopped']);
    expect((await api.get(`/api/schedules/${id}/runs`, ACME)).body.data).toEqual([]);
  });

  test('pages are newest first', async () => {
    const { id } = await made();
    const jobs: string[] = [];
    for (let count = 0; count < 3; count += 1)
      jobs.unshift((await api.post(`/api/schedules/${id}/run`, undefined, ACME)).body.job_id);
    const first = (await api.get(`/api/schedules/${id}/runs?limit=2`, ACME)).body;
    const second = (await api.get(`/api/schedules/${id}/runs?limit=2&cursor=${first.next_cursor}`, ACME)).body;
    expect([...first.data, ...second.data].map((run: Body) => run.job_id)).toEqual(jobs);
    expect(second.next_cursor).toBeNull();
  });
});

describe('refused', () => {
  const refusal = async (over: object) => {
    const { status, body } = await api.post('/api/schedules', daily(over), ACME);
    return [status, body.error.code, body.error.param ?? null];
  };
  const past = () => new Date(Date.now() - 1_000).toISOString();

  test.each([
    ['no timing', { cron: undefined }, null],
    ['two timings', { every_s: 60 }, null],
    ['a cron expression with seconds', { cron: '* * * * * *' }, 'cron'],
    ['a cron expression that never comes', { cron: '0 0 31 2 *' }, 'cron'],
    ['a short interval', { cron: undefined, every_s: 9 }, 'every_s'],
    ['an unknown time zone', { timezone: 'Mars/Olympus' }, 'timezone'],
    ['an offset', { timezone: '+02:00' }, 'timezone'],
    ['an unknown overlap', { overlap: 'both' }, 'overlap'],
    ['a long delay', { jitter_s: 86_401 }, 'jitter_s'],
    ['no target', { target: {} }, 'target'],
    [
      'two targets',
      { target: { context_id: '0199d000-0000-7000-8000-000000000001', worker: { name: 'w' } } },
      'target',
    ],
    ['empty content', { content: '' }, 'content'],
    ['an unknown field', { colour: 'red' }, 'colour'],
  ])('%s', async (_, over, param) => {
    expect(await refusal(over)).toEqual([422, 'invalid_request', param]);
  });

  test('a time in the past, also as a change', async () => {
    expect(await refusal({ cron: undefined, at: past() })).toEqual([422, 'invalid_request', 'at']);
    const { id } = await made();
    expect((await patch(id, { at: past() })).status).toBe(422);
    expect((await api.get(`/api/schedules/${id}`, ACME)).body.cron).toBe('30 2 * * *');
  });

  test('a context, a role and a tool that do not exist, or are of another tenant', async () => {
    const { body: theirs } = await api.post('/api/contexts', {}, GLOBEX);
    expect(await refusal({ target: { context_id: theirs.id } })).toEqual([404, 'not_found', 'target.context_id']);
    expect(await refusal({ target: { worker: { name: 'w', role: 'none' } } })).toEqual([
      422,
      'unknown_role',
      'target.worker.role',
    ]);
    const worker = { name: 'w', config: { tools: ['none'] } };
    expect(await refusal({ target: { worker } })).toEqual([422, 'unknown_tool', 'target.worker.config.tools']);
  });

  test('keys without the scope, other tenants, and tokens', async () => {
    const { id } = await made();
    const runs = as('a-key-that-only-runs');
    expect((await api.get(`/api/schedules/${id}`, runs)).status).toBe(200);
    for (const [method, path, body] of [
      ['POST', '/api/schedules', daily()],
      ['PATCH', `/api/schedules/${id}`, { paused: true }],
      ['POST', `/api/schedules/${id}/run`, undefined],
      ['DELETE', `/api/schedules/${id}`, undefined],
    ] as const) {
      const { status, body: problem } = await api.call(method, path, body, runs);
      expect([status, problem.detail]).toEqual([403, expect.stringContaining('configure')]);
    }
    expect((await api.get('/api/schedules', GLOBEX)).body.data).toEqual([]);
    const token = await api.post('/api/tokens', { user: 'alice', scopes: ['read', 'run'], expires_in_s: 60 }, ACME);
    for (const path of ['/api/schedules', `/api/schedules/${id}`, `/api/schedules/${id}/runs`])
      expect((await api.get(path, as(token.body.token))).status).toBe(403);
  });
});
