// Limits of a tenant: requests in a second and at once, streams, sizes of bodies, workers, queued jobs and reads.
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRooms } from '../../../src/api/quotas/room.ts';
import type { TenantId } from '../../../src/core/ids.ts';
import { claimWithinSlots } from '../../../src/db/run/claims.ts';
import { addProcess } from '../manual-worker.ts';
import { isQuery, openApi, type Answer, type Api } from '../harness.ts';

const ADMIN_KEY = 'the-key-of-the-operator';
const OPERATOR = { authorization: `Bearer ${ADMIN_KEY}` };

let api: Api;
let other: Api;
let last = 0;
beforeAll(async () => {
  const names = Array.from({ length: 32 }, (_, at) => `t${at}`);
  const env = {
    NIGHTSHIFT_API_KEYS: names.map((name) => `key-of-${name}:${name}`).join(','),
    NIGHTSHIFT_ADMIN_KEY: ADMIN_KEY,
  };
  api = await openApi(env);
  other = await openApi(env, api.databaseUrl);
});
afterAll(async () => {
  await other.close();
  await api.close();
});

/** A tenant with these limits, and the header with its key. */
async function tenantWith(limits: object): Promise<{ name: string; key: Record<string, string> }> {
  const name = `t${(last += 1)}`;
  const made = await api.post('/api/tenants', { name, limits }, OPERATOR);
  expect(made.status).toBe(201);
  return { name, key: { authorization: `Bearer key-of-${name}` } };
}

function expectExceeded({ status, headers, body }: Answer, param: string): void {
  expect([status, body.error?.code, body.error?.param]).toEqual([429, 'quota_exceeded', param]);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
}

describe('limits', () => {
  test('are shown, changed, and removed with null', async () => {
    const { name } = await tenantWith({ slots: 3, workers: 10 });
    const { body: changed } = await api.call(
      'PATCH',
      `/api/tenants/${name}`,
      { limits: { slots: null, streams: 2 } },
      OPERATOR,
    );
    expect(changed.limits).toEqual({
      weight: 1,
      requests_per_s: null,
      concurrent_requests: null,
      slots: null,
      queued_jobs: null,
      workers: 10,
      streams: 2,
      stored_mb: null,
      upload_mb: null,
      sql_ms: null,
    });
  });

  test.each([
    ['stored_gb', 1],
    ['stored_mb', 0],
    ['slots', 0],
    ['slots', 1.5],
    ['sql_ms', 20_000],
    ['requests_per_s', '5'],
  ])('refuse %s = %s', async (name, value) => {
    const refused = await api.post('/api/tenants', { name: 'refused', limits: { [name]: value } }, OPERATOR);
    expect([refused.status, refused.body.error.param]).toEqual([422, `limits.${name}`]);
  });

  test('cost a tenant without them no statement and no header', async () => {
    const { key } = await tenantWith({});
    const made = await api.post('/api/workers', { name: 'w' }, key);
    api.statements.length = 0;
    const posted = await api.post(`/api/contexts/${made.body.context_id}/messages`, { content: 'hi' }, key);
    expect(posted.status).toBe(202);
    const isWork = (text: string) => isQuery(text) && !text.includes('tenants.find_');
    expect(api.statements.filter(isWork)).toHaveLength(1);
    expect(posted.headers).not.toHaveProperty('ratelimit');
    expect(posted.headers).not.toHaveProperty('ratelimit-policy');
  });
});

describe('requests', () => {
  test('in a second are counted, and the headers tell how many are left', async () => {
    const { key } = await tenantWith({ requests_per_s: 2 });
    const answers = await Promise.all([1, 2, 3].map(() => api.get('/api/workers', key)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(1);
    for (const one of refused) {
      expectExceeded(one, 'requests_per_s');
      expect(one.headers['retry-after']).toBe('1');
      expect(one.headers['ratelimit']).toBe('"requests_per_s";r=0;t=1');
    }
    for (const { headers } of answers) expect(headers['ratelimit-policy']).toBe('"requests_per_s";q=2;w=1');
    expect(answers.map(({ headers }) => headers['ratelimit'])).toEqual([
      '"requests_per_s";r=1;t=1',
      '"requests_per_s";r=0;t=1',
      '"requests_per_s";r=0;t=1',
    ]);
    await expect.poll(async () => (await api.get('/api/workers', key)).status, { interval: 100 }).toBe(200);
  });

  test('at once are counted until each has ended', async () => {
    const { key } = await tenantWith({ concurrent_requests: 2 });
    const made = await api.post('/api/workers', { name: 'w', input: { content: 'hi' } }, key);
    const wait = () => api.get(`/api/jobs/${made.body.job_id}?wait_ms=60000`, key);
    const waiting = [wait(), wait()];
    const used = async () => (await api.get('/api/usage', key)).body.limits.concurrent_requests.used;
    await expect.poll(used, { interval: 20 }).toBe(2);
    const refused = await api.get('/api/workers', key);
    expectExceeded(refused, 'concurrent_requests');
    expect(refused.headers['ratelimit-policy']).toBe('"concurrent_requests";q=2;qu="concurrent-requests"');
    expect(refused.headers['ratelimit']).toBe('"concurrent_requests";r=0');
    // Another process counts for itself.
    expect((await other.post(`/api/jobs/${made.body.job_id}/cancel`, {}, key)).status).toBe(200);
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    const { status, headers } = await api.get('/api/workers', key);
    expect([status, headers['ratelimit']]).toEqual([200, '"concurrent_requests";r=1']);
  });

  test('with a body that is too large are refused, whether its length is told or not', async () => {
    const { key } = await tenantWith({ upload_mb: 1 });
    const made = await api.post('/api/workers', { name: 'w' }, key);
    const url = `/api/contexts/${made.body.context_id}/messages`;
    const large = { content: 'x'.repeat(1024 * 1024) };
    const refused = await api.post(url, large, key);
    expectExceeded(refused, 'upload_mb');
    expect(refused.headers['x-should-retry']).toBe('false');
    async function* inParts() {
      yield '{"content":"';
      for (let part = 0; part < 20; part += 1) yield 'x'.repeat(64 * 1024);
      yield '"}';
    }
    const sent = await api.app.inject({
      method: 'POST',
      url,
      headers: { ...key, 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      payload: Readable.from(inParts()),
    });
    expect([sent.statusCode, sent.json().error.param]).toEqual([429, 'upload_mb']);
    expect((await api.post(url, { content: 'small' }, key)).status).toBe(202);
  });
});

describe('queued jobs', () => {
  test('do not exceed the limit, however many posts come at once', async () => {
    const { key } = await tenantWith({ queued_jobs: 5 });
    const contexts = await Promise.all(
      Array.from({ length: 6 }, async () => (await api.post('/api/workers', { name: 'w' }, key)).body.context_id),
    );
    const answers = await Promise.all(
      contexts.flatMap((id) => [1, 2, 3].map(() => api.post(`/api/contexts/${id}/messages`, { content: 'hi' }, key))),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(5);
    for (const answer of answers) if (answer.status !== 202) expectExceeded(answer, 'queued_jobs');
    // Another process counts what is stored.
    expectExceeded(await other.post(`/api/contexts/${contexts[0]}/messages`, { content: 'hi' }, key), 'queued_jobs');
    for (const path of ['messages', 'jobs', 'compact'])
      expectExceeded(
        await api.post(`/api/contexts/${contexts[0]}/${path}`, path === 'messages' ? { content: 'hi' } : {}, key),
        'queued_jobs',
      );
    const delayed = { content: 'hi', after_s: 60 };
    expectExceeded(await api.post(`/api/contexts/${contexts[0]}/messages`, delayed, key), 'queued_jobs');
    expectExceeded(await api.post(`/api/workers`, { name: 'w', input: delayed }, key), 'queued_jobs');
    const interrupting = await api.post(
      `/api/contexts/${contexts[0]}/messages`,
      { content: 'hi', delivery: 'interrupt' },
      key,
    );
    expectExceeded(interrupting, 'queued_jobs');
    const withInput = await api.post('/api/workers', { name: 'w', input: { content: 'hi' } }, key);
    expectExceeded(withInput, 'queued_jobs');
    expectExceeded(await api.post('/api/chat', { message: 'hi' }, key), 'queued_jobs');
  });

  test('below the limit are accepted, although others are being stored while they are counted', async () => {
    const { key } = await tenantWith({ queued_jobs: 40 });
    const { body: worker } = await api.post('/api/workers', { name: 'w' }, key);
    const post = () => api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'hi' }, key);
    const posts: Promise<Answer>[] = [];
    for (let count = 0; count < 40; count += 1) {
      posts.push(post());
      await setTimeout(count % 4);
    }
    expect((await Promise.all(posts)).map(({ status }) => status)).toEqual(Array.from({ length: 40 }, () => 202));
    expectExceeded(await post(), 'queued_jobs');
  });

  test('below the limit are accepted, however long it takes until those end that are stored already', async () => {
    const { key, name } = await tenantWith({ queued_jobs: 2 });
    const { body: worker } = await api.post('/api/workers', { name: 'w' }, key);
    const [tenant] = await api.database.db.execute<{ id: TenantId }>(sql`select id from tenants where name = ${name}`);
    const limited = { tenantId: tenant?.id ?? (0 as TenantId), limits: { queued_jobs: 2 } };
    const rooms = openRooms(api.database);
    const isStored = Promise.withResolvers<void>();
    const admitted = rooms.admit(limited, { queuedJobs: 1 }, async (full) => {
      await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'hi' }, key);
      isStored.resolve();
      await setTimeout(500);
      return full;
    });
    await isStored.promise;
    // It is counted twice: as one that is stored, and as one that is under way.
    expect(await rooms.admit(limited, { queuedJobs: 1 }, async (full) => full)).toBeNull();
    expect(await admitted).toBeNull();
    // What is stored alone is counted at once.
    await api.post(`/api/contexts/${worker.context_id}/messages`, { content: 'hi' }, key);
    expect(await rooms.admit(limited, { queuedJobs: 1 }, async (full) => full)).toMatchObject({ param: 'queued_jobs' });
  });

  test('under one key are one post, and a refused post may be repeated', async () => {
    const { key, name } = await tenantWith({ queued_jobs: 1 });
    const { body: worker } = await api.post('/api/workers', { name: 'w' }, key);
    const post = (id: string) =>
      api.post(`/api/contexts/${worker.context_id}/messages`, { content: id }, { ...key, 'idempotency-key': id });
    const first = await post('a');
    expect((await post('a')).body).toEqual(first.body);
    expectExceeded(await post('b'), 'queued_jobs');
    await api.call('PATCH', `/api/tenants/${name}`, { limits: { queued_jobs: 2 } }, OPERATOR);
    await expect.poll(async () => (await post('b')).status).toBe(202);
  });

  test('at the limit let pass what adds none: an input that joins a running job', async () => {
    const { key } = await tenantWith({ queued_jobs: 1 });
    const { body: worker } = await api.post('/api/workers', { name: 'w', input: { content: 'one' } }, key);
    const url = `/api/contexts/${worker.context_id}/messages`;
    // The limit is lower than what is queued already: what adds nothing is carried out.
    await api.database.db.execute(sql`update jobs set status = 'running', started_at = now()
      where id = ${worker.job_id}`);
    await api.database.db.execute(sql`update contexts set queued = 0 where id = ${worker.context_id}`);
    expect((await api.post(url, { content: 'two' }, key)).status).toBe(202);
    expectExceeded(await api.post(url, { content: 'three' }, key), 'queued_jobs');
    expect((await api.post(url, { content: 'four', delivery: 'steer' }, key)).status).toBe(202);
  });
});

describe('workers', () => {
  test('do not exceed the limit, however they are made', async () => {
    const { key } = await tenantWith({ workers: 4 });
    const made = await Promise.all(Array.from({ length: 8 }, () => api.post('/api/workers', { name: 'w' }, key)));
    expect(made.filter(({ status }) => status === 201)).toHaveLength(4);
    for (const answer of made) {
      if (answer.status === 201) continue;
      expectExceeded(answer, 'workers');
      expect(answer.headers['x-should-retry']).toBe('false');
    }
    expectExceeded(await other.post('/api/workers', { name: 'w' }, key), 'workers');
    expectExceeded(
      await api.post('/api/contexts/import', { entries: [{ user: 'q', assistant: 'a' }] }, key),
      'workers',
    );
    const one = made.find(({ status }) => status === 201)?.body;
    expectExceeded(await api.post('/api/contexts', {}, key), 'workers');
    expectExceeded(await api.post('/api/chat', { message: 'hi' }, key), 'workers');
    expectExceeded(await api.post(`/api/contexts/${one.context_id}/fork`, {}, key), 'workers');
    expectExceeded(await api.post('/api/workers', { name: 'w', parent_worker_id: one.id }, key), 'workers');
    expect((await api.call('DELETE', `/api/workers/${one.id}`, undefined, key)).status).toBe(204);
    expect((await api.post('/api/chat', { message: 'hi' }, key)).status).toBe(202);
  });
});

test('a job that waits for a slot of its tenant says so', async () => {
  const { key } = await tenantWith({ slots: 1 });
  const input = { content: 'hi' };
  const [running, waiting] = [
    await api.post('/api/workers', { name: 'w', input }, key),
    await api.post('/api/workers', { name: 'w', input }, key),
  ].map(({ body }) => body.context_id);
  const why = async () => (await api.get(`/api/contexts/${waiting}/state`, key)).body.why;
  const owner = await addProcess(api);
  expect(await why()).toBe('The job waits for a free worker process, at position 2 of this tenant.');
  const claimed = await api.database.transaction((tx) => claimWithinSlots(tx, running, owner, null));
  expect(claimed.kind).toBe('claimed');
  expect(await why()).toBe(
    'The job waits for a slot of its tenant, whose limit of 1 is reached, at position 1 of this tenant.',
  );
});

test('a read that takes longer than sql_ms is refused', async () => {
  const { key } = await tenantWith({ sql_ms: 1_000 });
  await api.database.transaction(async (tx) => {
    await tx.execute(sql`lock table jobs in access exclusive mode`);
    const refused = await api.get('/api/jobs', key);
    expectExceeded(refused, 'sql_ms');
    expect(refused.body.error.message).toContain('1 s, the limit of the tenant');
  });
  expect((await api.get('/api/jobs', key)).status).toBe(200);
});

test('what is not of the tenant is not counted: the operator, health, and its usage', async () => {
  const { key, name } = await tenantWith({ requests_per_s: 1 });
  expect((await api.get('/api/workers', key)).status).toBe(200);
  for (const [path, headers] of [
    ['/api/usage', key],
    [`/api/usage?tenant=${name}`, OPERATOR],
    ['/api/tenants', OPERATOR],
    ['/metrics', OPERATOR],
    ['/healthz', {}],
  ] as const)
    for (let at = 0; at < 3; at += 1) expect([path, (await api.get(path, headers)).status]).toEqual([path, 200]);
});

describe('GET /api/usage', () => {
  test('shows each limit and what is used of it', async () => {
    const { key, name } = await tenantWith({ workers: 4, queued_jobs: 9, concurrent_requests: 5, sql_ms: 1_000 });
    await api.post('/api/workers', { name: 'w', input: { content: 'hi' } }, key);
    const { status, body } = await api.get('/api/usage', key);
    expect(status).toBe(200);
    expect(body).toEqual({
      limits: {
        requests_per_s: { limit: null, used: null },
        concurrent_requests: { limit: 5, used: 0 },
        slots: { limit: null, used: 0 },
        queued_jobs: { limit: 9, used: 1 },
        workers: { limit: 4, used: 1 },
        streams: { limit: null, used: 0 },
        stored_mb: { limit: null, used: null },
        upload_mb: { limit: null, used: null },
        sql_ms: { limit: 1_000, used: null },
      },
    });
    const ofOperator = await api.get(`/api/usage?tenant=${name}`, OPERATOR);
    expect([ofOperator.status, ofOperator.body]).toEqual([200, body]);
  });

  test('tells the operator of any tenant, and others of their own only', async () => {
    const { key } = await tenantWith({});
    const { name } = await tenantWith({ slots: 3 });
    const asked = async (query: string, headers: Record<string, string>) => {
      const answer = await api.get(`/api/usage${query}`, headers);
      return [answer.status, answer.body.error?.code, answer.body.error?.param];
    };
    expect(await asked('', OPERATOR)).toEqual([422, 'invalid_request', 'tenant']);
    expect(await asked('?tenant=unknown', OPERATOR)).toEqual([404, 'not_found', null]);
    expect(await asked(`?tenant=${name}`, key)).toEqual([403, 'forbidden', 'tenant']);
  });
});

test('metrics of the operator show tenants with limits or work, and what was refused', async () => {
  const { key, name } = await tenantWith({ workers: 1, slots: 7 });
  for (let at = 0; at < 2; at += 1) await api.post('/api/workers', { name: 'w', input: { content: 'hi' } }, key);
  const { body } = await api.get('/metrics', OPERATOR);
  expect(body).toContain(`nightshift_tenant_queued_jobs{tenant="${name}"} 1`);
  expect(body).toContain(`nightshift_tenant_running{tenant="${name}"} 0`);
  expect(body).toContain(`nightshift_tenant_limit{tenant="${name}",limit="slots"} 7`);
  expect(body).toContain(`nightshift_quota_exceeded_total{tenant="${name}",limit="workers"} 1`);
  expect(body).not.toContain('tenant="default"');
});
