import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { sql } from 'drizzle-orm';
import { DEFAULT_TENANT, type ToolCallId } from '../../../src/core/ids.ts';
import type { Json } from '../../../src/core/json.ts';
import { leaveFigures } from '../../../src/db/processes/figures.ts';
import { exposition } from './exposition.ts';
import { OUTSIDE, addProcess, take } from '../manual-worker.ts';
import { ids, openApi, type Api, type Body } from '../harness.ts';
import { createFreshDatabase, type TestDatabase } from '../../services/database.ts';
import { setThrottle } from '../../../src/db/processes/throttles.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

/** The components, and what each `schema` member of an OpenAPI document holds. */
function* schemasIn(part: Body): Generator<object> {
  if (typeof part !== 'object' || part === null) return;
  for (const [name, value] of Object.entries(part)) {
    if (name === 'schemas') yield* Object.values<object>(value as never);
    if (name === 'schema') yield value as never;
    else yield* schemasIn(value);
  }
}

describe('the document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const { status, body } = await api.get('/api/openapi.json');
    expect(status).toBe(200);
    expect(body.openapi).toBe('3.1.0');
    const result = await new Validator().validate(body);
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
  });

  test('has valid schemas: no application validates its own at the start', async () => {
    const { body } = await api.get('/api/openapi.json');
    const meta = new Ajv2020({ strict: false });
    const schemas = [...schemasIn(body)];
    expect(schemas.length).toBeGreaterThan(200);
    expect(schemas.filter((schema) => meta.validateSchema(schema) !== true)).toEqual([]);
  });

  test('has the same operations and bodies under any settings', async () => {
    const other = await openApi({ NIGHTSHIFT_API_KEYS: 'key:tenant', NIGHTSHIFT_MAX_STREAMS: '7' });
    try {
      const headers = { authorization: 'Bearer key' };
      const [mine, theirs] = await Promise.all([api.get('/api/openapi.json'), other.get('/api/openapi.json', headers)]);
      expect(theirs.body.paths).toEqual(mine.body.paths);
      expect(theirs.body.components.schemas).toEqual(mine.body.components.schemas);
    } finally {
      await other.close();
    }
  });

  test('names exact statuses: those of an unexpected body, too, and those before there is a request', () => {
    for (const [path, operations] of Object.entries(api.contract.document.paths)) {
      for (const [method, { responses }] of Object.entries(operations)) {
        const named = Object.keys(responses);
        const expected = ['400', '408', '431', '500', '503', ...(method === 'get' ? [] : ['413', '415', '422'])];
        expect(named, `${method} ${path}`).toEqual(expect.arrayContaining(expected));
        expect(named.filter((status) => !/^[2-5][0-9][0-9]$/.test(status))).toEqual([]);
      }
    }
  });

  test('contains every route, and no other', async () => {
    const { paths } = api.contract.document;
    const named = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    );
    expect(named.toSorted()).toEqual(
      [
        'POST /api/workers',
        'GET /api/workers',
        'GET /api/workers/:id',
        'GET /api/workers/:id/tree',
        'PATCH /api/workers/:id',
        'DELETE /api/workers/:id',
        'POST /api/workers/:id/stop',
        'POST /api/workers/:id/start',
        'POST /api/workers/:id/messages',
        'POST /api/contexts',
        'GET /api/contexts',
        'GET /api/contexts/:id',
        'PATCH /api/contexts/:id',
        'PUT /api/contexts/:id',
        'DELETE /api/contexts/:id',
        'GET /api/contexts/:id/events',
        'GET /api/events',
        'GET /api/contexts/:id/state',
        'GET /api/contexts/:id/messages',
        'POST /api/contexts/:id/messages',
        'GET /api/contexts/:id/messages/:message_id',
        'PATCH /api/contexts/:id/messages/:message_id',
        'DELETE /api/contexts/:id/messages/:message_id',
        'POST /api/contexts/:id/interrupt',
        'POST /api/contexts/:id/compact',
        'GET /api/contexts/:id/compactions',
        'POST /api/contexts/:id/messages/:message_id/edit',
        'POST /api/contexts/:id/messages/:message_id/regenerate',
        'GET /api/contexts/:id/messages/:message_id/siblings',
        'POST /api/contexts/:id/fork',
        'GET /api/contexts/:id/branches',
        'POST /api/contexts/:id/branches',
        'PUT /api/contexts/:id/branches/:name',
        'DELETE /api/contexts/:id/branches/:name',
        'POST /api/contexts/:id/clear',
        'GET /api/contexts/:id/turns',
        'POST /api/chat',
        'POST /api/contexts/:id/tools/:tool_call_id/result',
        'POST /api/contexts/:id/tools/approve',
        'GET /api/approvals',
        'GET /api/contexts/:id/grants',
        'DELETE /api/contexts/:id/grants/:tool',
        'GET /api/contexts/:id/tools/:tool_call_id',
        'POST /api/contexts/:id/tools/:tool_call_id/resolve',
        'POST /api/contexts/:id/jobs',
        'GET /api/jobs',
        'GET /api/jobs/:id',
        'POST /api/jobs/:id/cancel',
        'POST /api/jobs/cancel',
        'POST /api/jobs/retry',
        'GET /api/jobs/:id/logs',
        'GET /api/jobs/:id/steps',
        'GET /api/jobs/:id/steps/:n/prompt',
        'GET /api/contexts/:id/export',
        'POST /api/contexts/import',
        'GET /api/search',
        'GET /api/roles',
        'GET /api/roles/:name',
        'GET /api/roles/:name/versions',
        'PUT /api/roles/:name',
        'DELETE /api/roles/:name',
        'GET /api/schedules',
        'POST /api/schedules',
        'GET /api/schedules/:id',
        'PATCH /api/schedules/:id',
        'DELETE /api/schedules/:id',
        'POST /api/schedules/:id/run',
        'GET /api/schedules/:id/runs',
        'GET /api/keys',
        'POST /api/keys',
        'DELETE /api/keys/:id',
        'POST /api/keys/:id/rotate',
        'POST /api/tokens',
        'DELETE /api/tokens',
        'GET /api/webhooks',
        'POST /api/webhooks',
        'GET /api/webhooks/:id',
        'PATCH /api/webhooks/:id',
        'DELETE /api/webhooks/:id',
        'POST /api/webhooks/:id/rotate',
        'POST /api/webhooks/:id/test',
        'GET /api/webhooks/:id/deliveries',
        'GET /api/webhooks/:id/deliveries/:delivery_id',
        'POST /api/webhooks/:id/deliveries/:delivery_id/retry',
        'GET /api/tenants',
        'POST /api/tenants',
        'GET /api/tenants/:name',
        'PATCH /api/tenants/:name',
        'DELETE /api/tenants/:name',
        'GET /api/audit',
        'GET /healthz',
        'GET /readyz',
        'GET /metrics',
        'GET /metrics/load',
        'GET /api/stats',
        'GET /api/system',
        'DELETE /api/providers/:name/throttles/:id',
        'GET /api/processes',
        'POST /api/processes/:id/pause',
        'POST /api/processes/:id/resume',
        'POST /api/processes/:id/drain',
        'GET /api/stats/history',
        'GET /api/usage',
        'GET /api/tools',
        'GET /api/tools/use',
        'GET /api/session',
        'POST /api/session',
        'DELETE /api/session',
        'GET /api/openapi.json',
      ].toSorted(),
    );
    for (const route of named) {
      const [method = '', url = ''] = route.split(' ');
      expect(api.app.hasRoute({ method, url })).toBe(true);
    }
  });

  test('shows which fields are optional', () => {
    const { paths } = JSON.parse(JSON.stringify(api.contract.document));
    expect(paths['/api/jobs/{id}/cancel'].post.requestBody.required).toBe(false);
    expect(paths['/api/contexts/{id}/jobs'].post.requestBody.required).toBe(false);
    expect(paths['/api/workers'].post.requestBody.required).toBe(true);
    const required = Object.values<Body>(paths)
      .flatMap((path) => Object.values<Body>(path))
      .flatMap((operation) => operation.parameters ?? [])
      .filter((parameter) => parameter.required && parameter.in !== 'path');
    // Of DELETE /api/tokens.
    expect(required.map(({ in: place, name }) => `${place} ${name}`)).toEqual(['query user']);
  });

  test('describes unions with a discriminator, each operation by a unique name', () => {
    const { components, paths } = JSON.parse(JSON.stringify(api.contract.document));
    expect(components.schemas.InputBlock.discriminator).toEqual({
      propertyName: 'type',
      mapping: {
        text: '#/components/schemas/TextInput',
        image: '#/components/schemas/ImageInput',
        document: '#/components/schemas/DocumentInput',
      },
    });
    const names = Object.values<Body>(paths)
      .flatMap((path) => Object.values<Body>(path))
      .map((operation) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    expect(JSON.stringify(paths)).not.toContain('Default Response');
  });
});

/** The paths of a context, and of a waiting call in it; another one waits for approval. */
async function askedCall(waitsFor: 'answer' | 'outcome' = 'answer'): Promise<{ context: string; call: string }> {
  const contextId = (await api.post('/api/contexts')).body.id;
  await api.post(`/api/contexts/${contextId}/messages`, { content: 'x' });
  const manual = await take(api, contextId, await addProcess(api), OUTSIDE);
  await manual.admit();
  const id = ids.next<ToolCallId>();
  await manual.answer([
    { type: 'tool_use', id, name: 'ask_user', input: { question: 'Which?' } },
    { type: 'tool_use', id: ids.next<ToolCallId>(), name: 'mail', input: {} },
  ]);
  await manual.askApproval();
  await manual.awaitCalls(Date.now() + 60_000);
  await api.database.db.execute(sql`update tool_calls set waits_for = ${waitsFor} where id = ${id}`);
  const context = `/api/contexts/${contextId}`;
  return { context, call: `${context}/tools/${id}` };
}

const DAILY = { name: 's', cron: '@daily', content: 'x' };

test('every operation of the document answers as described', async () => {
  const { body: worker } = await api.post('/api/workers', { name: 'w' });
  const { body: context } = await api.post('/api/contexts');
  const { body: schedule } = await api.post('/api/schedules', { ...DAILY, target: { context_id: context.id } });
  const { body: posted } = await api.post(`/api/contexts/${context.id}/messages`, { content: 'x' });
  const { body: withdrawn } = await api.post(`/api/contexts/${context.id}/messages`, { content: 'z' });
  const { body: chat } = await api.post('/api/chat', { message: 'x' });
  const asked = await askedCall();
  const unknown = await askedCall('outcome');
  const granted = await askedCall();
  const requests: [string, string, object?][] = [
    ['GET', '/api/workers'],
    ['GET', `/api/workers/${worker.id}`],
    ['GET', `/api/workers/${worker.id}/tree`],
    ['PATCH', `/api/workers/${worker.id}`, { name: 'v' }],
    ['POST', `/api/workers/${worker.id}/stop`],
    ['POST', `/api/workers/${worker.id}/start`],
    ['POST', `/api/workers/${worker.id}/messages`, { content: 'x' }],
    ['GET', '/api/contexts'],
    ['GET', `/api/contexts/${context.id}`],
    ['PATCH', `/api/contexts/${context.id}`, { title: 't' }],
    ['PUT', `/api/contexts/${context.id}`, { config: {} }],
    ['GET', `/api/contexts/${context.id}/state`],
    ['GET', `/api/contexts/${context.id}/messages`],
    ['GET', `/api/contexts/${context.id}/turns`],
    ['GET', `/api/contexts/${context.id}/messages/${posted.message_id}`],
    ['PATCH', `/api/contexts/${context.id}/messages/${posted.message_id}`, { content: 'y' }],
    ['DELETE', `/api/contexts/${context.id}/messages/${withdrawn.message_id}`],
    ['POST', `/api/contexts/${context.id}/jobs`],
    ['POST', `/api/contexts/${context.id}/interrupt`, { mode: 'keep' }],
    ['POST', `/api/contexts/${context.id}/compact`, { type: 'threshold' }],
    ['GET', `/api/contexts/${context.id}/compactions`],
    ['POST', `/api/contexts/${context.id}/messages/${posted.message_id}/edit`, { content: 'y' }],
    ['POST', `/api/contexts/${context.id}/messages/${posted.message_id}/regenerate`],
    ['GET', `/api/contexts/${context.id}/messages/${posted.message_id}/siblings`],
    ['POST', `/api/contexts/${context.id}/branches`, { name: 'other' }],
    ['GET', `/api/contexts/${context.id}/branches`],
    ['POST', `/api/contexts/${context.id}/fork`],
    ['PUT', `/api/contexts/${context.id}/branches/main`],
    ['DELETE', `/api/contexts/${context.id}/branches/other`],
    ['GET', '/api/approvals'],
    ['POST', `${asked.context}/tools/approve`, { all: true, decision: 'deny' }],
    ['POST', `${granted.context}/tools/approve`, { all: true, decision: 'approve', remember: true }],
    ['GET', `${granted.context}/grants`],
    ['DELETE', `${granted.context}/grants/mail`],
    ['POST', `${asked.call}/result`, { content: 'M' }],
    ['GET', asked.call],
    ['POST', `${unknown.call}/resolve`, { outcome: 'tell' }],
    ['GET', '/api/jobs'],
    ['GET', `/api/jobs/${posted.job_id}`],
    ['POST', `/api/jobs/${posted.job_id}/cancel`],
    ['GET', `/api/jobs/${posted.job_id}/logs`],
    ['GET', `/api/jobs/${posted.job_id}/steps`],
    ['POST', '/api/jobs/cancel', { kind: 'input' }],
    ['POST', '/api/jobs/retry', { ids: [posted.job_id] }],
    ['POST', `/api/contexts/${worker.context_id}/clear`],
    ['PUT', '/api/roles/coder', { max_steps: 1 }],
    ['GET', `/api/contexts/${context.id}/export`],
    ['POST', '/api/contexts/import', { entries: [{ user: 'x' }] }],
    ['GET', '/api/search?q=hello'],
    ['GET', '/api/roles'],
    ['GET', '/api/roles/coder'],
    ['GET', '/api/roles/coder/versions'],
    ['DELETE', '/api/roles/coder'],
    ['GET', '/api/schedules'],
    ['POST', '/api/schedules', { ...DAILY, target: { worker: { name: 'w' } } }],
    ['GET', `/api/schedules/${schedule.id}`],
    ['PATCH', `/api/schedules/${schedule.id}`, { paused: true }],
    ['POST', `/api/schedules/${schedule.id}/run`],
    ['GET', `/api/schedules/${schedule.id}/runs`],
    ['DELETE', `/api/schedules/${schedule.id}`],
    ['GET', '/healthz'],
    ['GET', '/readyz'],
    ['GET', '/metrics'],
    ['GET', '/metrics/load'],
    ['GET', '/api/stats'],
    ['GET', '/api/system'],
    ['DELETE', '/api/providers/openai/throttles/held'],
    ['GET', '/api/stats/history'],
    ['GET', '/api/usage'],
    ['GET', '/api/tools'],
    ['GET', '/api/tools/use'],
    ['GET', '/api/session'],
    ['POST', '/api/session', { key: 'any' }],
    ['DELETE', '/api/session'],
    ['GET', '/api/openapi.json'],
    ['DELETE', `/api/workers/${worker.id}`],
    ['DELETE', `/api/contexts/${context.id}`],
    ['DELETE', `/api/contexts/${chat.session_id}`],
    ['DELETE', asked.context],
    ['DELETE', granted.context],
  ];
  await setThrottle(
    api.database.db,
    { provider: 'openai', keyId: 'k', model: 'm' },
    {
      id: 'held',
      tenantId: DEFAULT_TENANT,
      reason: 'overloaded',
      since: Date.now(),
      refusedAt: Date.now(),
      until: Date.now() + 60_000,
    },
  );
  const streamed = api.get(`/api/contexts/${context.id}/events?after=0`);
  for (const [method, path, body] of requests) {
    expect((await api.call(method, path, body)).status).toBeLessThan(300);
  }
  // It ended with its context.
  expect((await streamed).status).toBe(200);
  // Prompts need a model call: test/api/jobs/step-prompt.test.ts covers them. The others need keys or a secret, or would
  // end the time without keys: tests named after them cover them.
  expect(api.contract.unseen()).toEqual([
    // A stream that does not end: test/events/tenant-changes.test.ts
    'GET /api/events',
    'GET /api/keys',
    'POST /api/keys',
    'POST /api/tokens',
    'DELETE /api/tokens',
    'GET /api/webhooks',
    'POST /api/webhooks',
    'GET /api/processes',
    'GET /api/tenants',
    'POST /api/tenants',
    'GET /api/audit',
    'DELETE /api/keys/{id}',
    'POST /api/keys/{id}/rotate',
    'GET /api/webhooks/{id}',
    'PATCH /api/webhooks/{id}',
    'DELETE /api/webhooks/{id}',
    'POST /api/webhooks/{id}/rotate',
    'POST /api/webhooks/{id}/test',
    'GET /api/webhooks/{id}/deliveries',
    'POST /api/processes/{id}/pause',
    'POST /api/processes/{id}/resume',
    'POST /api/processes/{id}/drain',
    'GET /api/tenants/{name}',
    'PATCH /api/tenants/{name}',
    'DELETE /api/tenants/{name}',
    'GET /api/jobs/{id}/steps/{n}/prompt',
    'GET /api/webhooks/{id}/deliveries/{delivery_id}',
    'POST /api/webhooks/{id}/deliveries/{delivery_id}/retry',
  ]);
});

test('the process and its services are well', async () => {
  expect((await api.get('/healthz')).body).toEqual({ status: 'ok' });
  expect((await api.get('/readyz')).body).toEqual({ status: 'ok', postgres: 'ok', queue: 'ok' });
});

test('a missing queue makes work late, not impossible', async () => {
  api.queue.reachable = false;
  try {
    const { status, body } = await api.get('/readyz');
    expect(status).toBe(200);
    expect(body).toEqual({ status: 'degraded', postgres: 'ok', queue: 'away' });
  } finally {
    api.queue.reachable = true;
  }
});

test('stats count contexts by the state they are shown in, and the queued inputs of stopped workers', async () => {
  const other = await openApi();
  try {
    const owner = await addProcess(other);
    const [failed, stopped, again] = [await other.worker(), await other.worker(), await other.worker()];
    for (const { id } of [failed, stopped, stopped, again])
      await other.post(`/api/workers/${id}/messages`, { content: 'x' });
    await other.post(`/api/workers/${stopped.id}/stop`);
    const manual = await take(other, failed.context_id, owner);
    await manual.admit();
    await manual.settle({ status: 'failed', error: { code: 'provider_auth', message: 'No key.' } });
    const retried = await take(other, again.context_id, owner);
    await retried.admit();
    await retried.delay(Date.now() - 1_000);
    expect((await other.get('/api/stats')).body).toEqual({
      queue_depth: 2,
      running: 1,
      waiting: 0,
      by_state: { PermanentFailure: 1, Stopped: 1, AwaitingLLMResponse: 1 },
      waits: [],
    });
  } finally {
    await other.close();
  }
});

test('metrics show the published figures of live worker processes, as far as they are valid', async () => {
  const [live, dead, odd] = [await addProcess(api), await addProcess(api), await addProcess(api)];
  const figure = (value: Json): Json[] => [
    {
      name: 'nightshift_left',
      help: 'Left\nbehind.',
      type: 'counter',
      values: [{ value, labels: { kind: 'a"b\\c' } }],
    },
  ];
  const oddities: Json[] = [
    null,
    1,
    { name: 'x y' },
    { name: 'no_values', help: '', type: 'gauge' },
    ...figure('many'),
  ];
  await leaveFigures(api.database.db, live, figure(3));
  await leaveFigures(api.database.db, dead, figure(4));
  await leaveFigures(api.database.db, odd, oddities);
  await api.database.db.execute(sql`update processes set heartbeat_at = now() - interval '1 hour' where id = ${dead}`);
  const left = exposition((await api.get('/metrics')).body).filter(({ name }) => name === 'nightshift_left');
  expect(left).toEqual([
    { name: 'nightshift_left', value: 3, labels: { kind: 'a\\"b\\\\c', process: live.slice(-8) } },
  ]);
});

test('stats and metrics count waiting, running and queued work', async () => {
  const owner = await addProcess(api);
  const [queued, running, waiting, resting] = [
    await api.worker(),
    await api.worker(),
    await api.worker(),
    await api.worker(),
  ];
  for (const worker of [queued, queued, running, waiting]) {
    await api.post(`/api/workers/${worker.id}/messages`, { content: 'x' });
  }
  await (await take(api, running.context_id, owner)).admit();
  const manual = await take(api, waiting.context_id, owner);
  await manual.admit();
  await manual.delay(Date.now() + 60_000);
  await manual.sleep(Date.now() + 60_000);
  expect(resting.state).toBe('inactive');
  expect((await api.get('/api/stats')).body).toEqual({
    queue_depth: 2,
    running: 1,
    waiting: 1,
    by_state: { Idle: 4, ProcessingUserMessage: 1, AwaitingLLMResponse: 1, TransientFailure: 1 },
    waits: [
      { reason: 'slot', contexts: 1, since: expect.any(String) },
      { reason: 'retry', contexts: 1, since: expect.any(String) },
    ],
  });
  const since = (await api.get('/api/stats')).body.waits[0].since;
  await api.database.db.execute(sql`update contexts set next_check_at = next_check_at - interval '1 hour'
    where scheduling_status = 'runnable'`);
  await api.database.db.execute(sql`update jobs set error = '{"throttled": {"id": "k"}}' where status = 'waiting'`);
  const [slot, throttle] = (await api.get('/api/stats')).body.waits;
  expect(Date.parse(since) - Date.parse(slot.since)).toBe(3_600_000);
  expect([slot.reason, throttle.reason]).toEqual(['slot', 'throttle']);
  const { status, headers, body } = await api.get('/metrics');
  expect(status).toBe(200);
  expect(headers['content-type']).toMatch(/^text\/plain/);
  for (const line of [
    'nightshift_jobs{status="queued"} 2',
    'nightshift_jobs{status="running"} 1',
    'nightshift_jobs{status="waiting"} 1',
    'nightshift_contexts{status="runnable"} 1',
    'nightshift_contexts{status="running"} 1',
    'nightshift_contexts{status="waiting"} 1',
    'nightshift_database_up 1',
  ]) {
    expect(body).toContain(`${line}\n`);
  }
  expect(body).toMatch(/nightshift_http_request_seconds_count\{method="POST",route="\/api\/workers",status="201"\} 5/);
  expect(body).toContain('nodejs_eventloop_lag_seconds');
  expect(body).toContain('process_resident_memory_bytes');
});

describe('a database without all migrations', () => {
  // Of its own: what these tests do to it cannot be undone.
  let database: TestDatabase;
  let behind: Api;
  beforeAll(async () => {
    database = await createFreshDatabase();
    behind = await openApi({}, database.url);
    await behind.database.db.execute(sql`
      delete from migrations where id = (select max(id) from migrations)`);
    await behind.database.db.execute(sql`alter table roles rename to roles_of_yesterday`);
  });
  afterAll(async () => {
    await behind.close();
    await database.drop();
  });

  test('is not ready, and the error names the missing one and the command to run', async () => {
    const { status, body } = await behind.get('/readyz');
    expect(status).toBe(503);
    expect(body.error).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/lacks the migration \d{4}_\w+\. Run `nightshift migrate`/),
    });
  });

  test('answers 503 to a request that needs the missing one', async () => {
    const { status, body } = await behind.get('/api/roles');
    expect(status).toBe(503);
    expect(body.error.message).toContain('nightshift migrate');
  });

  test('lacks all of them where none was ever applied', async () => {
    const all = await readdir('src/db/migrations');
    await behind.database.db.execute(sql`drop table migrations`);
    const { body } = await behind.get('/readyz');
    for (const file of all.filter((name) => name.endsWith('.sql')))
      expect(body.error.message).toContain(file.replace('.sql', ''));
  });
});
