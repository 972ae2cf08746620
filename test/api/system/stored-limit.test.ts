// The limit of a tenant on the content of its messages: what is refused, what goes through, and what makes room.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ProcessId, TenantId, ToolCallId } from '../../../src/core/ids.ts';
import { readStoredBytes } from '../../../src/db/read/installation/usage.ts';
import { explaining } from '../../services/explaining.ts';
import { OUTSIDE, addProcess, take } from '../manual-worker.ts';
import { ids, openApi, type Answer, type Api, type Body } from '../harness.ts';

const ADMIN_KEY = 'the-key-of-the-operator';
const OPERATOR = { authorization: `Bearer ${ADMIN_KEY}` };
const MB = 1024 * 1024;

type Key = Record<string, string>;

let api: Api;
let other: Api;
let owner: ProcessId;
let last = 0;
beforeAll(async () => {
  const names = ['default', ...Array.from({ length: 16 }, (_, at) => `t${at}`)];
  const env = {
    NIGHTSHIFT_API_KEYS: names.map((name) => `key-of-${name}:${name}`).join(','),
    NIGHTSHIFT_ADMIN_KEY: ADMIN_KEY,
  };
  api = await openApi(env);
  other = await openApi(env, api.databaseUrl);
  owner = await addProcess(api, { tools: ['ask_user'] });
});
afterAll(async () => {
  await other.close();
  await api.close();
});

const keyOf = (name: string): Key => ({ authorization: `Bearer key-of-${name}` });

async function tenantWith(limits: object): Promise<{ name: string; key: Key }> {
  const name = `t${(last += 1)}`;
  expect((await api.post('/api/tenants', { name, limits }, OPERATOR)).status).toBe(201);
  return { name, key: keyOf(name) };
}

async function contextOf(key: Key): Promise<{ id: string; worker: string }> {
  const { body } = await api.post('/api/workers', { name: 'w' }, key);
  return { id: body.context_id, worker: body.id };
}

/** A text whose content has so many bytes. */
function textOf(bytes: number): string {
  return 'x'.repeat(bytes - JSON.stringify([{ type: 'text', text: '' }]).length);
}

const post = (key: Key, id: string, bytes: number, more: object = {}) =>
  api.post(`/api/contexts/${id}/messages`, { content: textOf(bytes), ...more }, key);

async function usedMb(key: Key): Promise<number> {
  return (await api.get('/api/usage', key)).body.limits.stored_mb.used;
}

function expectFull({ status, headers, body }: Answer): void {
  expect([status, body.error?.code, body.error?.param]).toEqual([429, 'quota_exceeded', 'stored_mb']);
  expect([headers['retry-after'], headers['x-should-retry']]).toEqual(['60', 'false']);
}

/** Limits the tenant of manual workers, and waits until that counts. */
async function limitDefault(mb: number): Promise<void> {
  const { status } = await api.call('PATCH', '/api/tenants/default', { limits: { stored_mb: mb } }, OPERATOR);
  expect(status).toBe(200);
  await vi.waitUntil(
    async () => (await api.get('/api/usage', keyOf('default'))).body.limits.stored_mb.limit === mb,
    5_000,
  );
}

/** Contexts whose counter is not the sum of their messages. */
const miscounted = () =>
  api.database.db.execute<Body>(sql`
    select c.id, c.stored_bytes, sum(m.bytes) from contexts c left join messages m on m.context_id = c.id
    group by c.id having c.stored_bytes <> coalesce(sum(m.bytes), 0)`);

describe('inputs', () => {
  test('are accepted up to the last byte, and refused beyond', async () => {
    const { key, name } = await tenantWith({ stored_mb: 1 });
    const { id } = await contextOf(key);
    expect((await post(key, id, MB - 100)).status).toBe(202);
    expectFull(await post(key, id, 101));
    expect((await post(key, id, 100)).status).toBe(202);
    expectFull(await post(key, id, 40));
    expect((await api.get('/api/usage', key)).body.limits.stored_mb).toEqual({ limit: 1, used: 1 });
    const ofOperator = await api.get(`/api/usage?tenant=${name}`, OPERATOR);
    expect(ofOperator.body.limits.stored_mb).toEqual({ limit: 1, used: 1 });
    expectFull(await other.post(`/api/contexts/${id}/messages`, { content: 'hi' }, key));
  });

  test('that come at once do not exceed it', async () => {
    const { key } = await tenantWith({ stored_mb: 1 });
    const contexts = await Promise.all(Array.from({ length: 10 }, () => contextOf(key)));
    const answers = await Promise.all(contexts.map(({ id }) => post(key, id, 200_000)));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(5);
    for (const answer of answers) if (answer.status !== 202) expectFull(answer);
    expect(await usedMb(key)).toBe(0.954);
  });

  test('count as PostgreSQL stores them', async () => {
    const { key } = await tenantWith({ stored_mb: 1 });
    const { id } = await contextOf(key);
    const url = `/api/contexts/${id}/messages`;
    for (const content of ['é€🙂', '\0 \uD800 \uF8FE "quoted"\\', [{ type: 'text', text: 'a' }]])
      expect((await api.post(url, { content }, key)).status).toBe(202);
    const [row] = await api.database.db.execute<Body>(sql`select stored_bytes from contexts where id = ${id}`);
    const [stored] = await api.database.db.execute<Body>(
      sql`select sum(octet_length(content::text))::int as bytes from messages where context_id = ${id}`,
    );
    expect(row.stored_bytes).toBe(stored.bytes);
  });

  test('that are repeated under their key get their answer, also when nothing more may be stored', async () => {
    const { key } = await tenantWith({ stored_mb: 1 });
    const { id } = await contextOf(key);
    const repeated = { ...key, 'idempotency-key': 'one' };
    const first = await post(repeated, id, MB);
    expect(first.status).toBe(202);
    expectFull(await post(key, id, 40));
    expect((await post(repeated, id, MB)).body).toEqual(first.body);
  });
});

test('a queued input may become longer as far as there is room, whatever its size', async () => {
  const { key } = await tenantWith({ stored_mb: 1 });
  const { id } = await contextOf(key);
  const { body } = await post(key, id, 0.6 * MB);
  const change = (bytes: number) =>
    api.call('PATCH', `/api/contexts/${id}/messages/${body.message_id}`, { content: textOf(bytes) }, key);
  expect((await change(Math.floor(0.6 * MB) + 1)).status).toBe(200);
  expect((await change(MB)).status).toBe(200);
  expectFull(await change(MB + 1));
  expect(await miscounted()).toEqual([]);
});

test('what was refused for another reason takes no room', async () => {
  const { key } = await tenantWith({ stored_mb: 1 });
  const { id, worker } = await contextOf(key);
  expect((await post(key, id, 100)).status).toBe(202);
  expect((await api.post(`/api/workers/${worker}/stop`, {}, key)).status).toBe(200);
  for (let count = 0; count < 3; count += 1)
    expect((await post(key, id, 0.5 * MB)).body.error).toMatchObject({ code: 'worker_stopped' });
  const free = await contextOf(key);
  expect((await post(key, free.id, 0.9 * MB)).status).toBe(202);
});

test('forks that come at once do not exceed the limit: one that does not fit is undone', async () => {
  const { key, name } = await tenantWith({});
  const entries = [{ user: 'x'.repeat(0.3 * MB), assistant: 'a' }];
  const { body: source } = await api.post('/api/contexts/import', { entries }, key);
  const limits = { stored_mb: 1 };
  expect((await api.call('PATCH', `/api/tenants/${name}`, { limits }, OPERATOR)).status).toBe(200);
  await vi.waitUntil(async () => (await api.get('/api/usage', key)).body.limits.stored_mb.limit === 1, 5_000);
  const forks = await Promise.all(
    Array.from({ length: 5 }, () => api.post(`/api/contexts/${source.id}/fork`, {}, key)),
  );
  expect(forks.filter(({ status }) => status === 201)).toHaveLength(2);
  for (const fork of forks) if (fork.status !== 201) expectFull(fork);
  expect(await usedMb(key)).toBeLessThan(1);
  expectFull(await api.post('/api/contexts/import', { entries }, key));
  expect((await api.get('/api/contexts', key)).body.data).toHaveLength(3);
});

test('inputs that join a job count, also while no job may be queued', async () => {
  expect(await usedMb(keyOf('default'))).toBeNull();
  const limits = { stored_mb: 1, queued_jobs: 1 };
  expect((await api.call('PATCH', '/api/tenants/default', { limits }, OPERATOR)).status).toBe(200);
  const key = keyOf('default');
  await vi.waitUntil(async () => (await api.get('/api/usage', key)).body.limits.stored_mb.limit === 1, 5_000);
  const [running, full] = [await contextOf(key), await contextOf(key)];
  expect((await post(key, running.id, 100)).status).toBe(202);
  const manual = await take(api, running.id as never, owner, OUTSIDE);
  await manual.admit();
  expect((await post(key, full.id, 100)).status).toBe(202);
  expect((await post(key, running.id, 0.6 * MB, { delivery: 'steer' })).status).toBe(202);
  expectFull(await post(key, running.id, 0.6 * MB, { delivery: 'steer' }));
  for (const { worker } of [running, full])
    expect((await api.call('DELETE', `/api/workers/${worker}`, undefined, key)).status).toBe(204);
  const none = { limits: { stored_mb: null, queued_jobs: null } };
  expect((await api.call('PATCH', '/api/tenants/default', none, OPERATOR)).status).toBe(200);
});

test('a tenant without the limit is not measured, nor is one whose request adds no content', async () => {
  const measured = () => api.statements.filter((text) => text.includes('tenants.read_stored_bytes'));
  const [unlimited, limited] = [await tenantWith({ workers: 5 }), await tenantWith({ stored_mb: 1 })];
  const { id } = await contextOf(unlimited.key);
  api.statements.length = 0;
  expect((await post(unlimited.key, id, 100)).status).toBe(202);
  const made = await contextOf(limited.key);
  expect(measured()).toEqual([]);
  await Promise.all([1, 2, 3].map(() => post(limited.key, made.id, 100)));
  expect(measured()).toHaveLength(1);
});

test('tenants are limited by their own content only', async () => {
  const [full, free] = [await tenantWith({ stored_mb: 1 }), await tenantWith({ stored_mb: 1 })];
  const [one, two] = [await contextOf(full.key), await contextOf(free.key)];
  expect((await post(full.key, one.id, MB)).status).toBe(202);
  expectFull(await post(full.key, one.id, 40));
  expect((await post(free.key, two.id, MB)).status).toBe(202);
});

test('a deletion makes room within a second; clearing a context does not', async () => {
  const { key } = await tenantWith({ stored_mb: 1 });
  const [kept, deleted, cleared] = [await contextOf(key), await contextOf(key), await contextOf(key)];
  expect((await post(key, deleted.id, MB / 2)).status).toBe(202);
  const { body } = await post(key, cleared.id, MB / 2);
  expectFull(await post(key, kept.id, 100));
  expect((await api.post(`/api/jobs/${body.job_id}/cancel`, {}, key)).status).toBe(200);
  expect((await api.post(`/api/contexts/${cleared.id}/clear`, {}, key)).status).toBe(200);
  expect(await usedMb(key)).toBe(1);
  expect((await api.call('DELETE', `/api/workers/${deleted.worker}`, undefined, key)).status).toBe(204);
  await expect.poll(async () => (await post(key, kept.id, 100)).status, { timeout: 5_000 }).toBe(202);
});

describe('at the limit', () => {
  let key: Key;
  let full: { id: string; worker: string };
  let queued: Body;
  let done: { id: string; input: string; answer: string };

  beforeAll(async () => {
    key = keyOf('default');
    done = await conversation();
    await limitDefault(1);
    full = await contextOf(key);
    const [row] = await api.database.db.execute<{ bytes: number }>(
      sql`select sum(stored_bytes)::int as bytes from contexts where tenant_id = 1`,
    );
    queued = (await post(key, full.id, MB - (row?.bytes ?? 0))).body;
    expect(queued.status).toBe('queued');
  });

  /** A context with an input that was answered. */
  async function conversation() {
    const { id } = await contextOf(key);
    const { body } = await api.post(`/api/contexts/${id}/messages`, { content: 'hi' }, key);
    const manual = await take(api, id as never, owner);
    await manual.admit();
    await manual.complete('hello');
    const { data } = (await api.get(`/api/contexts/${id}/messages`, key)).body;
    return { id, input: body.message_id, answer: data.at(-1).id };
  }

  test.each<[string, () => [string, object]]>([
    ['an input', () => [`/api/contexts/${full.id}/messages`, { content: 'hi' }]],
    ['an input to a worker', () => [`/api/workers/${full.worker}/messages`, { content: 'hi' }]],
    ['an input that interrupts', () => [`/api/contexts/${full.id}/messages`, { content: 'hi', delivery: 'interrupt' }]],
    ['a delayed input', () => [`/api/contexts/${full.id}/messages`, { content: 'hi', after_s: 60 }]],
    ['a worker with an input', () => ['/api/workers', { name: 'w', input: { content: 'hi' } }]],
    ['a session', () => ['/api/chat', { message: 'hi' }]],
    ['a job without an input', () => [`/api/contexts/${done.id}/jobs`, {}]],
    ['a compaction', () => [`/api/contexts/${done.id}/compact`, {}]],
    ['an edit of a past input', () => [`/api/contexts/${done.id}/messages/${done.input}/edit`, { content: 'ho' }]],
    ['another answer', () => [`/api/contexts/${done.id}/messages/${done.answer}/regenerate`, {}]],
    ['a fork', () => [`/api/contexts/${done.id}/fork`, {}]],
    ['an import', () => ['/api/contexts/import', { entries: [{ user: 'q', assistant: 'a' }] }]],
  ])('%s is refused', async (_, request) => {
    const [path, body] = request();
    expectFull(await api.post(path, body, key));
  });

  test('a queued input may be shortened and withdrawn, and not made longer', async () => {
    const url = `/api/contexts/${full.id}/messages/${queued.message_id}`;
    const { body: before } = await api.get(url, key);
    expectFull(await api.call('PATCH', url, { content: `${before.content[0].text}x` }, key));
    expect((await api.get(url, key)).body).toEqual(before);
    expect((await api.call('PATCH', url, { position: 1 }, key)).status).toBe(200);
    expect((await api.call('PATCH', url, { content: before.content[0].text }, key)).status).toBe(200);
    expect(await miscounted()).toEqual([]);
  });

  test('a worker without an input is made', async () => {
    expect((await api.post('/api/workers', { name: 'w' }, key)).status).toBe(201);
    expect((await api.post('/api/contexts', {}, key)).status).toBe(201);
  });
});

describe('a running job', () => {
  let key: Key;
  beforeAll(() => {
    key = keyOf('default');
  });

  test('goes on beyond the limit, and what it stores counts; inputs that would join it are refused', async () => {
    const before = await usedMb(key);
    const limit = Math.ceil(before) + 1;
    await limitDefault(limit);
    const { id } = await contextOf(key);
    await expect.poll(async () => (await post(key, id, 100)).status).toBe(202);
    const manual = await take(api, id as never, owner, OUTSIDE);
    await manual.admit();
    await manual.answer([{ type: 'tool_use', id: ids.next<ToolCallId>(), name: 'look', input: {} }]);
    await manual.results('x'.repeat(4 * MB));
    expect(await usedMb(key)).toBeGreaterThan(before + 3);
    // Until the measurement is a second old, this is a fork of nothing.
    const forked = async () => (await api.post(`/api/contexts/${ids.next()}/fork`, {}, key)).status;
    await expect.poll(forked, { timeout: 5_000 }).toBe(429);
    expectFull(await post(key, id, 100, { delivery: 'steer' }));
    // A question of the job waits for a person: the answer goes through.
    await manual.answer([
      { type: 'tool_use', id: ids.next<ToolCallId>(), name: 'ask_user', input: { question: 'Which?' } },
    ]);
    await manual.awaitCalls(Date.now() + 60_000);
    const answered = await api.post(`/api/contexts/${id}/messages`, { content: 'the first' }, key);
    expect([answered.status, answered.body.status]).toEqual([202, 'waiting']);
    const again = await take(api, id as never, owner, OUTSIDE);
    await again.endWaits();
    await again.complete('done');
    expect((await api.get(`/api/jobs/${answered.body.job_id}`, key)).body.status).toBe('completed');
    expect(await miscounted()).toEqual([]);
  });

  test('is cancelled, and its worker is stopped and deleted, at the limit', async () => {
    const limit = Math.ceil(await usedMb(key)) + 1;
    await limitDefault(limit);
    const { id, worker } = await contextOf(key);
    await expect.poll(async () => (await post(key, id, 100)).status).toBe(202);
    const manual = await take(api, id as never, owner, OUTSIDE);
    await manual.admit();
    await manual.answer([{ type: 'tool_use', id: ids.next<ToolCallId>(), name: 'look', input: {} }]);
    await manual.results('x'.repeat(3 * MB));
    await expect
      .poll(async () => (await post(key, id, 100, { delivery: 'steer' })).status, { timeout: 5_000 })
      .toBe(429);
    const { data } = (await api.get(`/api/jobs?context_id=${id}&status=running`, key)).body;
    expect((await api.post(`/api/jobs/${data[0].id}/cancel`, {}, key)).status).toBe(200);
    expect((await api.post(`/api/workers/${worker}/stop`, {}, key)).status).toBe(200);
    expect((await api.call('DELETE', `/api/workers/${worker}`, undefined, key)).status).toBe(204);
  });
});

test('copies count what they store: forks with new ids, and imports', async () => {
  const { key } = await tenantWith({});
  const entries = [
    { user: 'q €', assistant: 'a' },
    { user: '\0', assistant: '🙂' },
  ];
  const { body } = await api.post('/api/contexts/import', { entries }, key);
  expect((await api.post(`/api/contexts/${body.id}/fork`, {}, key)).status).toBe(201);
  expect(await miscounted()).toEqual([]);
  const sizes = await api.database.db.execute<Body>(
    sql`select stored_bytes from contexts c join tenants t on t.id = c.tenant_id where t.name = ${`t${last}`}`,
  );
  expect(sizes).toHaveLength(2);
  expect(sizes[0].stored_bytes).toBeGreaterThan(0);
  expect(sizes[1]).toEqual(sizes[0]);
});

test('a measurement reads the contexts of its tenant by an index, however many others have', async () => {
  const { db } = api.database;
  await db.execute(sql`insert into contexts (id, tenant_id, stored_bytes)
    select gen_random_uuid(), 1000 + n % 20, 7 from generate_series(1, 20000) n`);
  await db.execute(sql`analyze contexts`);
  const plans: string[] = [];
  await readStoredBytes(explaining(db, plans), 1_001 as TenantId);
  expect(plans[0]).toContain('contexts_tenant');
  expect(plans[0]).not.toContain('Seq Scan on contexts');
  expect(await readStoredBytes(db, 1_001 as TenantId)).toBe(7_000);
});
