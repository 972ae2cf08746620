// A browser session of the operator: it may do what the admin key may, and ends on sign-out, after eight hours, and with
// the admin key.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../e2e/rig/until.ts';
import { openApi, type Api } from '../harness.ts';

const KEYS = 'first-key:acme,second-key:globex';
const ADMIN_KEY = 'the-key-of-the-operator';
const OPERATOR = { authorization: `Bearer ${ADMIN_KEY}` };
const OWN = { host: 'console.example', origin: 'http://console.example', 'sec-fetch-site': 'same-origin' };

let api: Api;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_API_KEYS: KEYS, NIGHTSHIFT_ADMIN_KEY: ADMIN_KEY });
});
afterAll(() => api.close());

/** What a page of the console sends from then on. */
async function signIn(to: Api = api): Promise<Record<string, string>> {
  const { status, headers } = await to.post('/api/session', { key: ADMIN_KEY }, OWN);
  expect(status).toBe(204);
  return { ...OWN, cookie: String(headers['set-cookie']).split(';')[0] ?? '' };
}

const isSignedIn = async (headers: Record<string, string>, at: Api = api): Promise<boolean> =>
  (await at.get('/api/tenants', headers)).status === 200;

describe('signing in with the admin key', () => {
  test('sets a cookie for eight hours that no script can read; the database has neither it nor the key', async () => {
    const { status, headers } = await api.post('/api/session', { key: ADMIN_KEY });
    expect(status).toBe(204);
    expect(String(headers['set-cookie'])).toMatch(
      /^nightshift_session=[\w-]{43}; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const [cookie = ''] = /[\w-]{43}/.exec(String(headers['set-cookie'])) ?? [];
    const rows = JSON.stringify(await api.database.db.execute(sql`select * from sessions`));
    expect(rows).not.toContain(cookie);
    expect(rows).not.toContain(ADMIN_KEY);
    expect(JSON.stringify(api.lines)).not.toContain(ADMIN_KEY);
  });

  test('over TLS the cookie is for TLS alone', async () => {
    const { headers } = await api.post('/api/session', { key: ADMIN_KEY }, { 'x-forwarded-proto': 'https' });
    expect(String(headers['set-cookie'])).toMatch(/^__Host-nightshift_session=.*; Secure/);
  });

  test('is limited: ten wrong keys of an address, thirty sessions of the key', async () => {
    const own = await openApi({ NIGHTSHIFT_ADMIN_KEY: ADMIN_KEY, NIGHTSHIFT_TRUSTED_PROXIES: '127.0.0.1' });
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const tryKey = async (key: string, address: string) =>
      (await own.post('/api/session', { key }, from(address))).status;
    for (let tried = 0; tried < 10; tried += 1) expect(await tryKey(`${ADMIN_KEY}${tried}`, '203.0.113.7')).toBe(401);
    expect(await tryKey(ADMIN_KEY, '203.0.113.7')).toBe(429);
    for (let made = 0; made < 30; made += 1) expect(await tryKey(ADMIN_KEY, '203.0.113.8')).toBe(204);
    expect(await tryKey(ADMIN_KEY, '203.0.113.8')).toBe(429);
    await own.close();
  });

  test('a key that the operator had before does not', async () => {
    const other = await openApi({ NIGHTSHIFT_ADMIN_KEY: 'another-key-of-the-operator' }, api.databaseUrl);
    expect((await other.post('/api/session', { key: ADMIN_KEY })).status).toBe(401);
    await other.close();
  });
});

describe('the session of the operator', () => {
  test('manages tenants, reads their usage, and makes the first key of one', async () => {
    const operator = await signIn();
    const made = await api.post('/api/tenants', { name: 'made-in-a-browser', limits: { slots: 3 } }, operator);
    expect(made.status).toBe(201);
    const { status, body } = await api.get('/api/usage?tenant=made-in-a-browser', operator);
    expect([status, body.limits.slots]).toEqual([200, { limit: 3, used: 0 }]);
    expect((await api.get('/api/usage', operator)).body.error).toMatchObject({ param: 'tenant' });
    const first = { name: 'first', scopes: ['keys'], tenant: 'made-in-a-browser' };
    expect((await api.post('/api/keys', first, operator)).status).toBe(201);
    expect((await api.get('/metrics', operator)).status).toBe(200);
    expect((await api.get('/api/system', operator)).body.processes).toEqual([]);
  });

  test('sees no data of a tenant, whatever it names', async () => {
    const bearer = { authorization: 'Bearer first-key' };
    const { body: context } = await api.post('/api/contexts', { title: 'of acme' }, bearer);
    const operator = await signIn();
    for (const path of ['/api/contexts', `/api/contexts/${context.id}`, `/api/contexts/${context.id}/events`])
      expect((await api.get(path, operator)).status).toBe(403);
    expect((await api.call('DELETE', `/api/contexts/${context.id}`, undefined, operator)).status).toBe(403);
    const { body: log } = await api.get('/api/audit', operator);
    expect(JSON.stringify(log)).not.toContain('acme');
  });

  test.each<Record<string, string>>([
    {},
    { host: 'console.example', origin: 'http://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'same-site' },
    { ...OWN, 'sec-fetch-site': 'cross-site' },
  ])('changes nothing for a page of another or unknown origin: %j', async (headers) => {
    const { cookie = '' } = await signIn();
    const refused = await api.post('/api/tenants', { name: 'from-elsewhere' }, { cookie, ...headers });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
    expect((await api.get('/api/tenants/from-elsewhere', OPERATOR)).status).toBe(404);
  });

  test('does not count beside a key of a tenant', async () => {
    const both = { ...(await signIn()), authorization: 'Bearer first-key' };
    expect(await isSignedIn(both)).toBe(false);
    expect((await api.get('/api/session', both)).body).toMatchObject({ tenant: 'acme' });
  });

  test('begins and ends in the audit log of the installation, as acts of the operator', async () => {
    const operator = await signIn();
    await api.call('DELETE', '/api/session', undefined, operator);
    const { body } = await api.get('/api/audit?target=operator&limit=2', OPERATOR);
    const actor = { kind: 'operator', id: null, user: null, on_behalf_of: null };
    expect(body.data).toMatchObject([
      { action: 'session.ended', actor, target: 'operator', detail: { address: '127.0.0.1' } },
      { action: 'session.started', actor, target: 'operator' },
    ]);
    const ofTenant = await api.get('/api/audit', { authorization: 'Bearer first-key' });
    expect(JSON.stringify(ofTenant.body)).not.toContain('"operator"');
  });

  test('ends on sign-out, for every process, and no other session does', async () => {
    const other = await openApi({ NIGHTSHIFT_ADMIN_KEY: ADMIN_KEY }, api.databaseUrl);
    const [mine, another] = [await signIn(), await signIn()];
    expect(await isSignedIn(mine, other)).toBe(true);
    expect((await api.call('DELETE', '/api/session', undefined, mine)).status).toBe(204);
    expect(await isSignedIn(mine)).toBe(false);
    await until('the other process to see it', async () => !(await isSignedIn(mine, other)));
    expect(await isSignedIn(another, other)).toBe(true);
    await other.close();
  });

  test('ends after eight hours, by the clock of PostgreSQL', async () => {
    const mine = await signIn();
    const [lifetime] = await api.database.db.execute<{ s: number }>(sql`
      select max(round(extract(epoch from expires_at - now())))::int as s from sessions where tenant_id is null`);
    expect(lifetime?.s).toBeGreaterThan(28_700);
    expect(lifetime?.s).toBeLessThanOrEqual(28_800);
    await api.database.db.execute(sql`
      update sessions set expires_at = now() - interval '1 millisecond' where tenant_id is null`);
    await until('it to be over', async () => !(await isSignedIn(mine)));
  });

  test('is refused by a process with another admin key, or without one', async () => {
    const mine = await signIn();
    expect(await isSignedIn(mine)).toBe(true);
    const changed = { NIGHTSHIFT_ADMIN_KEY: 'another-key-of-the-operator' };
    for (const env of [changed, { NIGHTSHIFT_API_KEYS: `${ADMIN_KEY}:acme` }]) {
      const other = await openApi(env, api.databaseUrl);
      expect((await other.get('/api/tenants', mine)).status).toBe(401);
      expect((await other.get('/api/contexts', mine)).status).toBe(401);
      await other.close();
    }
  });

  test('outlives the tenants of the installation: none of them owns it', async () => {
    const operator = await signIn();
    await api.post('/api/tenants', { name: 'short-lived' }, operator);
    expect((await api.call('DELETE', '/api/tenants/short-lived', undefined, operator)).status).toBe(202);
    await api.call('PATCH', '/api/tenants/default', { status: 'suspended' }, operator);
    expect(await isSignedIn(operator)).toBe(true);
    await api.call('PATCH', '/api/tenants/default', { status: 'active' }, operator);
  });
});
