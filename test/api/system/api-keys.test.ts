// Keys that the API makes: who may make which, how long they are valid, and how soon they end.
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from 'drizzle-orm';
import { CODES } from '../../../src/core/errors.ts';
import { forgetKeys } from '../../../src/db/write/api-keys.ts';
import { until } from '../../e2e/rig/until.ts';
import { tagOf } from '../../services/statements.ts';
import { openApi, type Answer, type Api, type Body } from '../harness.ts';

const ADMIN_KEY = 'the-key-of-the-operator';
const withKey = (key: string) => ({ authorization: `Bearer ${key}` });
const OPERATOR = withKey(ADMIN_KEY);
const ALL = ['read', 'run', 'configure', 'approve', 'keys'];
/** Of other tests in this file: a tenant each, so that none sees the keys of another. */
let tenants = 0;

let api: Api;
let other: Api;
beforeAll(async () => {
  const env = { NIGHTSHIFT_API_KEYS: 'of-the-environment:environment', NIGHTSHIFT_ADMIN_KEY: ADMIN_KEY };
  api = await openApi(env);
  other = await openApi(env, api.databaseUrl);
});
afterAll(async () => {
  await other.close();
  await api.close();
});

/** The first key of a new tenant. */
async function firstKey(scopes = ALL): Promise<Body> {
  tenants += 1;
  const { status, body } = await api.post(
    '/api/keys',
    { name: 'first', scopes, tenant: `tenant-${tenants}` },
    OPERATOR,
  );
  expect(status).toBe(201);
  return body;
}

const statusOf = async (key: string, at = api): Promise<number> => (await at.get('/api/workers', withKey(key))).status;

type Refused = 'forbidden' | 'invalid_request';

function expectRefused({ status, body }: Answer, code: Refused, param: string | null, text: string): void {
  expect([status, body.error.code, body.error.param]).toEqual([CODES[code], code, param]);
  expect(body.error.message).toContain(text);
}

describe('a key', () => {
  test('is shown once, and works in every API process', async () => {
    const first = await firstKey();
    const { status, body, headers } = await api.post('/api/keys', { name: 'ci', scopes: ['read'] }, withKey(first.key));
    expect(status).toBe(201);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({
      id: expect.any(String),
      name: 'ci',
      prefix: `nsk_${body.id.replaceAll('-', '')}`,
      scopes: ['read'],
      limits: { requests_per_s: null, concurrent_requests: null },
      created_at: expect.any(String),
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
      replaces: null,
      key: expect.stringMatching(/^nsk_[0-9a-f]{32}_[\w-]{43}$/),
    });
    expect(body.key.startsWith(`${body.prefix}_`)).toBe(true);
    expect([await statusOf(body.key), await statusOf(body.key, other)]).toEqual([200, 200]);
    expect((await api.post('/api/workers', { name: 'w' }, withKey(body.key))).status).toBe(403);
    const { key: _, ...shown } = body;
    const { body: list } = await api.get('/api/keys', withKey(first.key));
    expect(list.data.map(({ id }: Body) => id)).toEqual([body.id, first.id]);
    await until('its use is shown', async () => {
      const [newest] = (await api.get('/api/keys', withKey(first.key))).body.data;
      return newest.last_used_at !== null;
    });
    expect({ ...list.data[0], last_used_at: null }).toEqual(shown);
  });

  test('is stored nowhere, and in no line of the log', async () => {
    const { key, id } = await firstKey();
    const { body } = await api.post(
      '/api/keys',
      { name: 'n', scopes: ['run'] },
      { ...withKey(key), 'idempotency-key': 'k' },
    );
    await api.post(`/api/keys/${id}/rotate`, {}, { ...withKey(key), 'idempotency-key': 'l' });
    const tables = await api.database.db.execute<{ name: string }>(
      sql`select table_name as name from information_schema.tables where table_schema = 'nightshift'`,
    );
    expect(tables.map(({ name }) => name)).toContain('api_keys');
    for (const secret of [key, body.key].map((one: string) => one.slice(-43))) {
      for (const { name } of tables) {
        const found = await api.database.db.execute(
          sql`select 1 from ${sql.identifier(name)} t where strpos(t::text, ${secret}) > 0`,
        );
        expect([name, found.length]).toEqual([name, 0]);
      }
      expect(JSON.stringify(api.lines)).not.toContain(secret);
    }
  });

  test.each([
    [{}, null],
    [{ name: 'n' }, null],
    [{ name: 'n', scopes: [] }, 'scopes'],
    [{ name: 'n', scopes: ['read', 'read'] }, 'scopes'],
    [{ name: 'n', scopes: ['operator'] }, 'scopes.0'],
    [{ name: '', scopes: ['read'] }, 'name'],
    [{ name: 'n', scopes: ['read'], expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ name: 'n', scopes: ['read'], expires_at: '2099-01-01T00:00:00Z' }, 'expires_at'],
    [{ name: 'n', scopes: ['read'], expires_at: 'soon' }, 'expires_at'],
    [{ name: 'n', scopes: ['read'], more: 1 }, 'more'],
  ])('of %j is refused', async (body, param) => {
    const { key } = await firstKey();
    const { status, body: answer } = await api.post('/api/keys', body, withKey(key));
    expect(status).toBe(422);
    if (param !== null) expect(answer.error.param).toBe(param);
  });

  test('that was never made is refused like a wrong secret, which is no use of it', async () => {
    const { key, id } = await firstKey();
    const wrong = [
      key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A'),
      key.replace(/_[0-9a-f]{4}/, '_0000'),
      `${key}x`,
      'nsk_',
    ];
    for (const one of wrong) {
      const { status, body } = await api.get('/api/workers', withKey(one));
      expect([status, body.error.message]).toEqual([
        401,
        'The API key or token is not valid: it is unknown, revoked or expired.',
      ]);
    }
    const [row] = await api.database.db.execute<{ used: boolean }>(
      sql`select bool_or(last_used_at is not null) as used from api_keys where id = ${id}`,
    );
    expect(row).toEqual({ used: false });
    expect(await statusOf(key)).toBe(200);
  });

  test('costs few look-ups, and the time of its use is written once a minute', async () => {
    const { key } = await firstKey();
    await statusOf(key);
    await until('the use is stored', () => api.statements.some((text) => tagOf(text) === 'api_keys.note_use'));
    api.statements.length = 0;
    const began = performance.now();
    for (let n = 0; n < 20; n += 1) await statusOf(key);
    const looks = Math.ceil((performance.now() - began) / 450) + 1;
    const tags = api.statements.map(tagOf).filter((tag) => tag?.startsWith('api_keys.'));
    expect(tags.length).toBeLessThanOrEqual(looks);
    expect(tags).not.toContain('api_keys.note_use');
  });
});

describe('scopes', () => {
  test('that the caller lacks are not given, by creating or rotating', async () => {
    const { key, id } = await firstKey();
    const { body: limited } = await api.post('/api/keys', { name: 'l', scopes: ['keys', 'read'] }, withKey(key));
    const wanted = { name: 'n', scopes: ['read', 'approve'] };
    expectRefused(await api.post('/api/keys', wanted, withKey(limited.key)), 'forbidden', 'scopes', 'scope approve');
    expectRefused(await api.post(`/api/keys/${id}/rotate`, {}, withKey(limited.key)), 'forbidden', null, 'the scope');
    // The refused rotation changed nothing.
    const { body: list } = await api.get('/api/keys', withKey(key));
    expect(list.data.map(({ expires_at }: Body) => expires_at)).toEqual([null, null]);
    expect((await api.post('/api/keys', { name: 'n', scopes: ['read'] }, withKey(limited.key))).status).toBe(201);
  });

  test('keys is needed for every operation on keys', async () => {
    const { key, id } = await firstKey();
    const { body } = await api.post('/api/keys', { name: 'l', scopes: ['read', 'run'] }, withKey(key));
    const lacking = withKey(body.key);
    expect((await api.get('/api/keys', lacking)).status).toBe(403);
    expect((await api.post('/api/keys', { name: 'n', scopes: ['read'] }, lacking)).status).toBe(403);
    expect((await api.post(`/api/keys/${id}/rotate`, {}, lacking)).status).toBe(403);
    expect((await api.call('DELETE', `/api/keys/${id}`, undefined, lacking)).status).toBe(403);
  });
});

describe('the admin key', () => {
  test('makes the first key of a tenant, and another one only while none with the scope keys was used', async () => {
    tenants += 1;
    const body = { name: 'first', scopes: ['keys', 'read'], tenant: `tenant-${tenants}` };
    // The response of the first may be lost.
    const [lost, made] = [await api.post('/api/keys', body, OPERATOR), await api.post('/api/keys', body, OPERATOR)];
    expect([lost.status, made.status]).toEqual([201, 201]);
    expect(await statusOf(made.body.key)).toBe(200);
    const again = async () => (await api.post('/api/keys', body, OPERATOR)).status;
    await until('the use is stored', async () => (await again()) === 403);
    expectRefused(await api.post('/api/keys', body, OPERATOR), 'forbidden', 'tenant', 'can make keys');
    expect((await api.call('DELETE', `/api/keys/${made.body.id}`, undefined, withKey(made.body.key))).status).toBe(204);
    expect(await again()).toBe(201);
  });

  test('makes none for a tenant of which a key of the environment can make keys', async () => {
    const body = { name: 'first', scopes: ALL, tenant: 'environment' };
    expectRefused(await api.post('/api/keys', body, OPERATOR), 'forbidden', 'tenant', 'can make keys');
  });

  test('makes none while a key that the tenant made can make others, used or not', async () => {
    const { key, id } = await firstKey();
    const tenant = `tenant-${tenants}`;
    const again = async () => (await api.post('/api/keys', { name: 'n', scopes: ['keys'], tenant }, OPERATOR)).status;
    const { status } = await api.post(`/api/keys/${id}/rotate`, { overlap_s: 0 }, withKey(key));
    expect([status, await again()]).toEqual([201, 403]);
  });

  test('makes no first key without the scope keys', async () => {
    const body = { name: 'first', scopes: ['read'], tenant: 'another' };
    expectRefused(await api.post('/api/keys', body, OPERATOR), 'invalid_request', 'scopes', 'needs the scope keys');
  });

  test('names the tenant, and no other key does', async () => {
    expectRefused(
      await api.post('/api/keys', { name: 'n', scopes: ['keys'] }, OPERATOR),
      'invalid_request',
      'tenant',
      'missing',
    );
    const { key } = await firstKey();
    const body = { name: 'n', scopes: ['read'], tenant: 'other' };
    expectRefused(await api.post('/api/keys', body, withKey(key)), 'forbidden', 'tenant', 'admin key');
    expect((await api.post('/api/keys', { ...body, scopes: ['keys'], tenant: 'no spaces' }, OPERATOR)).status).toBe(
      422,
    );
  });

  test('sees and changes no keys', async () => {
    const { id } = await firstKey();
    expect((await api.get('/api/keys', OPERATOR)).status).toBe(403);
    expect((await api.call('DELETE', `/api/keys/${id}`, undefined, OPERATOR)).status).toBe(403);
    expect((await api.post(`/api/keys/${id}/rotate`, {}, OPERATOR)).status).toBe(403);
  });
});

describe('a revoked key', () => {
  test('is refused within a second everywhere, with its sessions and streams; others stay', async () => {
    const { key, id } = await firstKey();
    const { body: second } = await api.post('/api/keys', { name: 's', scopes: ALL }, withKey(key));
    const { headers } = await other.post('/api/session', { key });
    const cookie = { cookie: String(headers['set-cookie']).split(';')[0] ?? '' };
    expect((await other.get('/api/workers', cookie)).status).toBe(200);
    const { body: context } = await api.post('/api/contexts', { title: 't' }, withKey(key));
    const path = `/api/contexts/${context.id}/events`;
    const streams = [withKey(key), cookie].map((by) => other.get(path, by));
    let isOpen = true;
    void other.get(path, withKey(second.key)).then(() => (isOpen = false));
    await until('three streams', async () => (await streamsOf(other)) === 3);

    expect((await api.call('DELETE', `/api/keys/${id}`, undefined, withKey(key))).status).toBe(204);
    await Promise.all(streams);
    expect(await statusOf(key)).toBe(401);
    await until('the other process knows', async () => (await statusOf(key, other)) === 401);
    expect((await other.get('/api/workers', cookie)).status).toBe(401);
    expect([isOpen, await statusOf(second.key, other)]).toEqual([true, 200]);
    // Its row stays for a while, and revoking it again changes nothing.
    const find = async () =>
      (await api.get('/api/keys', withKey(second.key))).body.data.find((one: Body) => one.id === id);
    const { revoked_at } = await find();
    expect(revoked_at).not.toBeNull();
    expect((await api.call('DELETE', `/api/keys/${id}`, undefined, withKey(second.key))).status).toBe(204);
    expect((await find()).revoked_at).toBe(revoked_at);
  });

  test('of another tenant, or that does not exist, is not found', async () => {
    const { id } = await firstKey();
    const { key } = await firstKey();
    for (const one of [id, '00000000-0000-7000-8000-000000000000']) {
      expect((await api.call('DELETE', `/api/keys/${one}`, undefined, withKey(key))).status).toBe(404);
      expect((await api.post(`/api/keys/${one}/rotate`, {}, withKey(key))).status).toBe(404);
    }
  });
});

describe('a request that was admitted before its credential ended', () => {
  /** Its body arrives after `ending`. */
  async function late(headers: Record<string, string>, path: string, ending: () => Promise<unknown>): Promise<Answer> {
    const body = JSON.stringify(path === '/api/keys' ? { name: 'late', scopes: ['read'] } : {});
    const payload = new PassThrough();
    const answered = api.app.inject({
      method: 'POST',
      url: path,
      headers: { host: 'localhost', 'content-type': 'application/json', ...headers },
      payload,
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await ending();
    payload.end(body);
    const { statusCode, headers: given, body: text } = await answered;
    return { status: statusCode, headers: given as Record<string, string>, body: JSON.parse(text) };
  }

  test('makes and rotates no key', async () => {
    const { key, id } = await firstKey();
    const { body: victim } = await api.post('/api/keys', { name: 'v', scopes: ALL }, withKey(key));
    const { headers } = await api.post('/api/session', { key: victim.key });
    const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
    const own = { cookie, host: 'localhost', origin: 'http://localhost', 'sec-fetch-site': 'same-origin' };
    const revoke = () => api.call('DELETE', `/api/keys/${victim.id}`, undefined, withKey(key));
    const answers = await Promise.all([
      late(withKey(victim.key), '/api/keys', revoke),
      late(withKey(victim.key), `/api/keys/${id}/rotate`, revoke),
      late(own, '/api/keys', revoke),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
    const { body: list } = await api.get('/api/keys', withKey(key));
    expect(list.data.map(({ name }: Body) => name)).toEqual(['v', 'first']);
  });

  test('gets no answer that took long', async () => {
    const { key } = await firstKey();
    const { body: victim } = await api.post('/api/keys', { name: 'v', scopes: ALL }, withKey(key));
    const { body: context } = await api.post('/api/contexts', { title: 't' }, withKey(key));
    const { body: job } = await api.post(`/api/contexts/${context.id}/messages`, { content: 'x' }, withKey(key));
    const waiting = [victim.key, key].map((one) => api.get(`/api/jobs/${job.job_id}?wait_ms=1500`, withKey(one)));
    await new Promise((resolve) => setTimeout(resolve, 200));
    await api.call('DELETE', `/api/keys/${victim.id}`, undefined, withKey(key));
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([401, 200]);
  });
});

describe('a key with an end', () => {
  test('is refused after it, and cannot be rotated', async () => {
    const { key } = await firstKey();
    const expires_at = new Date(Date.now() + 1_500).toISOString();
    const { body } = await api.post('/api/keys', { name: 'short', scopes: ['read'], expires_at }, withKey(key));
    expect(body.expires_at).toBe(expires_at);
    expect(await statusOf(body.key)).toBe(200);
    await until('it has expired', async () => (await statusOf(body.key)) === 401);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expires_at));
    const answer = await api.post(`/api/keys/${body.id}/rotate`, {}, withKey(key));
    expectRefused(answer, 'invalid_request', null, 'has expired');
  });
});

describe('a rotation', () => {
  test('makes a key with the same name, scopes and lifetime; the old one stays for the overlap', async () => {
    const { key } = await firstKey();
    const lifetime = 3_600_000;
    const expires_at = new Date(Date.now() + lifetime).toISOString();
    const { body: old } = await api.post(
      '/api/keys',
      { name: 'r', scopes: ['read', 'keys'], expires_at },
      withKey(key),
    );
    const { status, body: made } = await api.post(`/api/keys/${old.id}/rotate`, { overlap_s: 60 }, withKey(key));
    expect(status).toBe(201);
    expect(made).toMatchObject({ name: 'r', scopes: ['read', 'keys'], replaces: old.id, revoked_at: null });
    expect(made.id).not.toBe(old.id);
    expect(Math.abs(Date.parse(made.expires_at) - Date.now() - lifetime)).toBeLessThan(60_000);
    expect([await statusOf(old.key), await statusOf(made.key)]).toEqual([200, 200]);
    const { body: list } = await api.get('/api/keys', withKey(key));
    const ends = Date.parse(list.data.find(({ id }: Body) => id === old.id).expires_at) - Date.now();
    expect(ends).toBeGreaterThan(0);
    expect(ends).toBeLessThanOrEqual(60_000);
    // Revoking one leaves the other.
    await api.call('DELETE', `/api/keys/${made.id}`, undefined, withKey(key));
    expect(await statusOf(made.key)).toBe(401);
    expect(await statusOf(old.key)).toBe(200);
  });

  test('without overlap ends the old key; an overlap does not extend it', async () => {
    const { key } = await firstKey();
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const { body: old } = await api.post('/api/keys', { name: 'r', scopes: ['read'], expires_at }, withKey(key));
    await api.post(`/api/keys/${old.id}/rotate`, {}, withKey(key));
    const { body: list } = await api.get('/api/keys', withKey(key));
    expect(list.data.find(({ id }: Body) => id === old.id).expires_at).toBe(expires_at);
    const { body: next } = await api.post(`/api/keys/${old.id}/rotate`, { overlap_s: 0 }, withKey(key));
    const lifetime = Date.parse(next.expires_at) - Date.parse(next.created_at);
    expect(Math.abs(lifetime - 60_000)).toBeLessThan(10_000);
    expect(await statusOf(old.key)).toBe(401);
    expect(await statusOf(next.key)).toBe(200);
  });

  test.each([{ overlap_s: -1 }, { overlap_s: 0.5 }, { overlap_s: 2_592_001 }, { overlap: 1 }])(
    'with %j is refused',
    async (body) => {
      const { key, id } = await firstKey();
      expect((await api.post(`/api/keys/${id}/rotate`, body, withKey(key))).status).toBe(422);
    },
  );
});

test('an API without keys needs one from the first that it makes', async () => {
  const keyless = await openApi();
  const beside = await openApi({}, keyless.databaseUrl);
  expect((await keyless.get('/api/session')).body).toMatchObject({ auth: 'none', signed_in: true });
  expect((await beside.get('/api/workers')).status).toBe(200);
  const { body: context } = await beside.post('/api/contexts', { title: 't' });
  const stream = beside.get(`/api/contexts/${context.id}/events`);
  const limited = await keyless.post('/api/keys', { name: 'first', scopes: ['read'] });
  expectRefused(limited, 'invalid_request', 'scopes', 'needs the scope keys');
  expect((await keyless.get('/api/workers')).status).toBe(200);
  expect((await keyless.post('/api/keys', { name: 'n', scopes: ALL, tenant: 'other' })).status).toBe(403);
  // Several requests at once make one first key.
  const first = () => keyless.post('/api/keys', { name: 'first', scopes: ALL });
  const answers = await Promise.all([first(), first(), first()]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 401, 401]);
  const made = answers.find(({ status }) => status === 201) ?? answers[0];
  // At once, also in a process that has not noticed yet.
  const { body: mine } = await beside.post('/api/workers', { name: 'w' }, withKey(made.body.key));
  expect(mine.id).toBeDefined();
  expect((await keyless.get('/api/workers')).status).toBe(401);
  expect(made.status).toBe(201);
  for (const one of [keyless, beside]) {
    await until('a key is needed', async () => (await one.get('/api/workers')).status === 401);
    expect(await statusOf(made.body.key, one)).toBe(200);
    expect((await one.get('/api/session')).body).toMatchObject({ auth: 'key', signed_in: false });
    expect((await one.get('/api/workers', { host: 'evil.example', ...withKey(made.body.key) })).status).toBe(403);
  }
  // A stream that needed none ends.
  await stream;
  // It stays so, even if no key is valid any more.
  await keyless.call('DELETE', `/api/keys/${made.body.id}`, undefined, withKey(made.body.key));
  await keyless.database.db.execute(sql`update api_keys set revoked_at = now() - interval '1 year'`);
  expect(await forgetKeys(keyless.database.db, 100)).toBe(0);
  await beside.close();
  const again = await openApi({}, keyless.databaseUrl);
  expect((await again.get('/api/workers')).status).toBe(401);
  await again.close();
  await keyless.close();
});

test('keys that ended long ago are deleted, with their sessions', async () => {
  const { key, id } = await firstKey();
  await api.post('/api/session', { key });
  await firstKey();
  await api.database.db.execute(sql`update api_keys set revoked_at = now() - interval '89 days' where id = ${id}`);
  await forgetKeys(api.database.db, 100);
  expect(await api.database.db.execute(sql`select 1 from api_keys where id = ${id}`)).toHaveLength(1);
  await api.database.db.execute(sql`update api_keys set revoked_at = now() - interval '91 days' where id = ${id}`);
  expect(await forgetKeys(api.database.db, 100)).toBe(1);
  expect(await api.database.db.execute(sql`select 1 from sessions where api_key_id = ${id}`)).toHaveLength(0);
});

test('a tenant has at most a thousand valid keys', async () => {
  const { key } = await firstKey();
  await api.database.db.execute(sql`
    insert into api_keys (id, tenant_id, name, hash, scopes)
    select gen_random_uuid(), k.tenant_id, 'n', k.hash, 'read' from api_keys k, generate_series(1, 999)
    where k.tenant_id = (select t.id from tenants t where t.name = ${`tenant-${tenants}`})`);
  const answer = await api.post('/api/keys', { name: 'n', scopes: ['read'] }, withKey(key));
  expectRefused(answer, 'invalid_request', null, 'at most 1000 valid API keys');
});

async function streamsOf(at: Api): Promise<number> {
  const { body } = await at.get('/metrics', OPERATOR);
  return Number(/^nightshift_streams (\d+)$/m.exec(body)?.[1] ?? 0);
}
