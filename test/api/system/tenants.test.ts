// Tenants, as the operator manages them: made, suspended, changed; and what a deletion ends at once.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeTenant } from '../../../src/commands/tenants/remove-tenant.ts';
import type { TenantId } from '../../../src/core/ids.ts';
import { LIMIT_NAMES } from '../../../src/core/access/quotas.ts';
import { CODES, type Code } from '../../../src/core/errors.ts';
import { ids, openApi, type Answer, type Api, type Body } from '../harness.ts';

const ADMIN_KEY = 'the-key-of-the-operator';
const withKey = (key: string) => ({ authorization: `Bearer ${key}` });
const OPERATOR = withKey(ADMIN_KEY);
/** For so long another process may serve an ended credential, in milliseconds. */
const SECOND_MS = 1_000;

let api: Api;
let other: Api;
beforeAll(async () => {
  const env = {
    NIGHTSHIFT_API_KEYS: 'key-of-paused:paused,key-of-gone:gone,key-of-kept:kept',
    NIGHTSHIFT_ADMIN_KEY: ADMIN_KEY,
    NIGHTSHIFT_SECRET_KEY: 's'.repeat(40),
  };
  api = await openApi(env);
  other = await openApi(env, api.databaseUrl);
});
afterAll(async () => {
  await other.close();
  await api.close();
});

const NO_LIMITS = Object.fromEntries(LIMIT_NAMES.map((name) => [name, null]));

const patch = (name: string, body: object) => api.call('PATCH', `/api/tenants/${name}`, body, OPERATOR);
const remove = (name: string) => api.call('DELETE', `/api/tenants/${name}`, undefined, OPERATOR);

function expectRefused({ status, body }: Answer, code: Code, text: string): void {
  expect([status, body.error?.code]).toEqual([CODES[code], code]);
  expect(body.error.message).toContain(text);
}

/** A key of every kind of a tenant, and a session and a token of it. */
async function credentialsOf(tenant: string): Promise<Record<string, Record<string, string>>> {
  const scopes = ['read', 'run', 'configure', 'approve', 'keys'];
  const { body } = await api.post('/api/keys', { name: 'first', scopes, tenant }, OPERATOR);
  const made = withKey(body.key);
  const issued = await api.post('/api/tokens', { user: 'ann', scopes: ['read'], expires_in_s: 600 }, made);
  const { headers } = await api.post('/api/session', { key: body.key });
  const [cookie = ''] = String(headers['set-cookie']).split(';');
  return { key: made, token: withKey(issued.body.token), session: { cookie } };
}

async function until(what: () => Promise<boolean>): Promise<void> {
  await expect.poll(what, { timeout: SECOND_MS, interval: 20 }).toBe(true);
}

describe('a tenant', () => {
  test('is made, shown, listed and changed', async () => {
    const made = await api.post('/api/tenants', { name: 'acme', limits: { weight: 2 } }, OPERATOR);
    expect(made.status).toBe(201);
    const allow = { tools: null, roles: null, mcp_servers: null, models: null };
    expect(made.body).toEqual({
      name: 'acme',
      status: 'active',
      limits: { ...NO_LIMITS, weight: 2 },
      allow,
      created_at: expect.stringMatching(/Z$/),
      deletion: null,
    });
    expectRefused(await api.post('/api/tenants', { name: 'acme' }, OPERATOR), 'tenant_exists', 'acme');
    const models = { allow: { models: ['anthropic/*'], tools: ['look'] } };
    expect((await patch('acme', models)).body.allow).toEqual({ ...allow, ...models.allow });
    const { body: changed } = await patch('acme', { allow: { tools: null, roles: [] }, limits: { weight: null } });
    expect(changed.allow).toEqual({ ...allow, models: ['anthropic/*'], roles: [] });
    expect(changed.limits).toEqual({ ...NO_LIMITS, weight: 1 });
    expect((await api.get('/api/tenants/acme', OPERATOR)).body).toEqual(changed);
    expect((await patch('acme', {})).body).toEqual(changed);
    const { body: first } = await api.get('/api/tenants?limit=1', OPERATOR);
    const { body: rest } = await api.get(`/api/tenants?cursor=${first.next_cursor}`, OPERATOR);
    const names = [...first.data, ...rest.data].map(({ name }: Body) => name);
    expect(names).toEqual([...names].toSorted((a, b) => (a < b ? -1 : 1)));
    expect(names).toContain('acme');
    expect(names).toContain('default');
  });

  test.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'a b' }, 'name'],
    [{ name: 'a'.repeat(65) }, 'name'],
    [{ name: 'a', limits: { weight: 0 } }, 'limits.weight'],
    [{ name: 'a', limits: { weight: 101 } }, 'limits.weight'],
    [{ name: 'a', limits: { stored_gb: 3 } }, 'limits.stored_gb'],
    [{ name: 'a', allow: { tools: [''] } }, 'allow.tools.0'],
    [{ name: 'a', allow: { tools: ['x', 'x'] } }, 'allow.tools'],
    [{ name: 'a', allow: { people: [] } }, 'allow.people'],
  ])('is not made from %j', async (body, param) => {
    const answer = await api.post('/api/tenants', body, OPERATOR);
    expect([answer.status, answer.body.error.param]).toEqual([422, param]);
  });

  test('that does not exist is not found', async () => {
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? {} : undefined;
      const answer = await api.call(method, '/api/tenants/not-there', body, OPERATOR);
      expectRefused(answer, 'not_found', 'not-there');
    }
    expect((await patch('acme', { status: 'deleting' })).status).toBe(422);
  });

  test('needs the scope operator', async () => {
    const { key = {} } = await credentialsOf('curious');
    for (const [method, path] of [
      ['GET', '/api/tenants'],
      ['POST', '/api/tenants'],
      ['GET', '/api/tenants/curious'],
      ['PATCH', '/api/tenants/curious'],
      ['DELETE', '/api/tenants/curious'],
    ] as const)
      expect((await api.call(method, path, undefined, key)).status).toBe(403);
  });
});

describe('a suspended tenant', () => {
  test('is refused in every process within a second, with every credential, and goes on as before', async () => {
    const credentials = { ...(await credentialsOf('halted')) };
    const all = Object.entries(credentials);
    for (const [, headers] of all) expect((await other.get('/api/jobs', headers)).status).toBe(200);
    expect((await patch('halted', { status: 'suspended' })).body.status).toBe('suspended');
    for (const [name, headers] of all) {
      await until(async () => (await other.get('/api/jobs', headers)).body.error?.code === 'tenant_suspended');
      const answer = await api.get('/api/jobs', headers);
      expect([name, answer.status]).toEqual([name, 403]);
    }
    const secret = credentials['key']?.['authorization']?.slice('Bearer '.length);
    expectRefused(await api.post('/api/session', { key: secret }), 'tenant_suspended', 'suspended');
    const more = { name: 'more', scopes: ['keys'], tenant: 'halted' };
    expect((await api.post('/api/keys', more, OPERATOR)).status).toBe(403);
    expect((await patch('halted', { status: 'active' })).body.status).toBe('active');
    for (const [, headers] of all) await until(async () => (await other.get('/api/jobs', headers)).status === 200);
  });

  test('of a key of the environment is refused, too, and its streams end', async () => {
    const key = withKey('key-of-paused');
    const { body: worker } = await api.post('/api/workers', { name: 'w' }, key);
    const stream = api.app.inject({
      url: `/api/contexts/${worker.context_id}/events`,
      headers: { host: 'localhost', ...key },
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    await patch('paused', { status: 'suspended' });
    const begunAt = performance.now();
    await stream;
    expect(performance.now() - begunAt).toBeLessThan(SECOND_MS);
    expectRefused(await api.get('/api/workers', key), 'tenant_suspended', 'suspended');
    await patch('paused', { status: 'active' });
    await until(async () => (await api.get('/api/workers', key)).status === 200);
  });

  test('is named as the reason where a request that was admitted before is refused its answer', async () => {
    const key = withKey('key-of-kept');
    const { body: worker } = await api.post('/api/workers', { name: 'w', input: { content: 'x' } }, key);
    api.statements.length = 0;
    const poll = api.get(`/api/jobs/${worker.job_id}?wait_ms=1000`, key);
    await until(async () => api.statements.length > 0);
    await api.database.db.execute(sql`update tenants set status = 'suspended' where name = 'kept'`);
    expectRefused(await poll, 'tenant_suspended', 'not active');
    await api.database.db.execute(sql`update tenants set status = 'active' where name = 'kept'`);
    await until(async () => (await api.get('/api/workers', key)).status === 200);
  });

  test('creates nothing through a request that was admitted before', async () => {
    const key = withKey('key-of-kept');
    expect((await api.get('/api/workers', key)).status).toBe(200);
    await api.database.db.execute(sql`update tenants set status = 'suspended' where name = 'kept'`);
    // The credential is remembered for 0.45 s.
    expectRefused(await api.post('/api/workers', { name: 'w' }, key), 'tenant_suspended', 'suspended');
    expectRefused(await api.call('PUT', '/api/roles/r', { system_prompt: 'x' }, key), 'tenant_suspended', 'suspended');
    await api.database.db.execute(sql`update tenants set status = 'active' where name = 'kept'`);
  });
});

describe('a deletion', () => {
  test('ends keys, tokens and sessions at once, and for good', async () => {
    const credentials = Object.values(await credentialsOf('doomed'));
    const begun = await remove('doomed');
    expect(begun.status).toBe(202);
    expect(begun.body).toMatchObject({ status: 'deleting', deletion: { deleted_workers: 0 } });
    for (const headers of credentials) {
      for (const one of [api, other]) await until(async () => (await one.get('/api/jobs', headers)).status === 401);
    }
    // Repeated, it changes nothing.
    expect((await remove('doomed')).body).toEqual(begun.body);
    expectRefused(await patch('doomed', { status: 'active' }), 'tenant_exists', 'is being deleted');
    expectRefused(await api.post('/api/tenants', { name: 'doomed' }, OPERATOR), 'tenant_exists', 'doomed');
    expect((await api.post('/api/keys', { name: 'n', scopes: ['keys'], tenant: 'doomed' }, OPERATOR)).status).toBe(403);
    const { body } = await api.get('/api/audit?target=doomed', OPERATOR);
    expect(body.data.map(({ action, detail }: Body) => [action, detail])).toEqual([
      ['tenant.changed', { status: 'deleting' }],
      ['tenant.created', {}],
    ]);
  });

  test('of the tenant default is refused', async () => {
    expectRefused(await remove('default'), 'forbidden', 'default');
  });
});

test('an API without keys does not suspend the tenant that it serves', async () => {
  const keyless = await openApi();
  const answer = await keyless.call('PATCH', '/api/tenants/default', { status: 'suspended' });
  expect([answer.status, answer.body.error.param]).toEqual([422, 'status']);
  expect((await keyless.get('/api/audit')).status).toBe(200);
  await keyless.close();
});

test('after a deletion, keys of the environment that named the tenant stay refused, also when the name is used again', async () => {
  const old = withKey('key-of-gone');
  expect((await api.get('/api/workers', old)).status).toBe(200);
  await remove('gone');
  const [row] = await api.database.db.execute<{ id: TenantId }>(sql`select id from tenants where name = 'gone'`);
  if (row === undefined) throw new Error('The tenant is missing.');
  expect(await removeTenant({ ...api.commands, ids }, row.id, () => false)).toBe('removed');
  expect((await api.get('/api/tenants/gone', OPERATOR)).status).toBe(404);
  for (const method of ['GET', 'DELETE'])
    expect((await api.call(method, '/api/tenants/a%00b', undefined, OPERATOR)).status).toBe(404);
  for (const one of [api, other]) await until(async () => (await one.get('/api/workers', old)).status === 401);
  // The refused key has not added the tenant again.
  expect((await api.get('/api/tenants/gone', OPERATOR)).status).toBe(404);
  expect((await api.post('/api/session', { key: 'key-of-gone' })).status).toBe(401);
  expect((await api.post('/api/tenants', { name: 'gone' }, OPERATOR)).status).toBe(201);
  expect((await api.get('/api/workers', old)).status).toBe(401);
  const made = await api.post('/api/keys', { name: 'new', scopes: ['read', 'keys'], tenant: 'gone' }, OPERATOR);
  expect((await api.get('/api/workers', withKey(made.body.key))).body.data).toEqual([]);
});
