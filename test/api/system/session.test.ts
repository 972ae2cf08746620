// A browser session opened with a key: its cookie, where it is accepted, and where not.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from 'drizzle-orm';
import { SCOPES } from '../../../src/core/access/scopes.ts';
import { forgetSessions } from '../../../src/db/write/sessions.ts';
import { until } from '../../e2e/rig/until.ts';
import { tagOf } from '../../services/statements.ts';
import { openApi, type Api } from '../harness.ts';

const KEYS = 'first-key:acme,second-key:acme,third-with-more:globex,of-a-reader:globex:run+read';
const ADMIN_KEY = 'the-key-of-the-operator';
const OPERATOR = { authorization: `Bearer ${ADMIN_KEY}` };
const OWN = { host: 'console.example', origin: 'https://console.example', 'sec-fetch-site': 'same-origin' };

let api: Api;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_API_KEYS: KEYS, NIGHTSHIFT_ADMIN_KEY: ADMIN_KEY });
});
afterAll(() => api.close());

/** The header that a browser sends from then on. */
async function signIn(key = 'first-key', to: Api = api, from = {}): Promise<{ cookie: string }> {
  const { status, headers } = await to.post('/api/session', { key }, from);
  expect(status).toBe(204);
  return { cookie: setCookie(headers).split(';')[0] ?? '' };
}

function setCookie(headers: Record<string, string>): string {
  return String(headers['set-cookie']);
}

describe('signing in', () => {
  test('sets a cookie that no script can read, and that does not contain the key', async () => {
    const { status, headers, body } = await api.post('/api/session', { key: 'first-key' });
    expect([status, body]).toEqual([204, '']);
    expect(setCookie(headers)).toMatch(
      /^nightshift_session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(headers['cache-control']).toBe('no-store');
  });

  test.each([
    [{ origin: 'https://console.example', host: 'console.example' }, true],
    [{ 'x-forwarded-proto': 'https' }, true],
    [{ 'x-forwarded-proto': 'https, http' }, true],
    [{ 'x-forwarded-proto': 'http' }, false],
    [{ origin: 'http://localhost', host: 'localhost' }, false],
  ])('over %j the cookie is for TLS alone: %s', async (headers, secure) => {
    const answer = await api.post('/api/session', { key: 'first-key' }, headers);
    expect(setCookie(answer.headers).includes('; Secure')).toBe(secure);
    expect(setCookie(answer.headers).startsWith('__Host-nightshift_session=')).toBe(secure);
  });

  test.each(['wrong', 'first-ke', 'first-key2', 'first-key:acme', ' first-key', 'é'])(
    'with "%s" is refused, without a hint and without a cookie',
    async (key) => {
      const { status, headers, body } = await api.post('/api/session', { key });
      expect(status).toBe(401);
      expect(headers['cache-control']).toBe('no-store');
      expect(body.error).toMatchObject({
        code: 'unauthorized',
        message: 'The API key or token is not valid: it is unknown, revoked or expired.',
      });
      expect(headers['set-cookie']).toBeUndefined();
    },
  );

  test.each([{}, { key: '' }, { key: 1 }, { key: null }, { key: 'x'.repeat(1_001) }, { key: 'a', b: 1 }, []])(
    'with %j is an invalid request',
    async (body) => {
      expect((await api.post('/api/session', body)).status).toBe(422);
    },
  );

  test.each([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('from a page of another origin is refused: %j', async (headers) => {
    const given = headers as Record<string, string>;
    for (const method of ['POST', 'DELETE']) {
      const body = method === 'POST' ? { key: 'first-key' } : undefined;
      const answer = await api.call(method, '/api/session', body, given);
      expect(answer.status).toBe(403);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
  });

  test('is reported, and undone by signing out', async () => {
    const unsigned = { auth: 'key', signed_in: false, tenant: null, user: null, scopes: [], oidc: null };
    expect((await api.get('/api/session')).body).toEqual(unsigned);
    const signedIn = { auth: 'key', signed_in: true, tenant: 'globex', user: null, scopes: [...SCOPES], oidc: null };
    expect((await api.get('/api/session', await signIn('third-with-more'))).body).toEqual(signedIn);
    expect((await api.get('/api/session', { authorization: 'Bearer third-with-more' })).body).toEqual(signedIn);
    const reader = { ...signedIn, scopes: ['read', 'run'] };
    expect((await api.get('/api/session', await signIn('of-a-reader'))).body).toEqual(reader);
    const { status, headers } = await api.call('DELETE', '/api/session');
    expect(status).toBe(204);
    expect(setCookie(headers)).toMatch(
      /^nightshift_session=; Max-Age=0; Path=\/; (Expires=[^;]*1970[^;]*; )?HttpOnly; SameSite=Strict$/,
    );
  });

  test('leaves neither key nor cookie in the log', async () => {
    const { cookie } = await signIn('second-key');
    await api.get('/api/workers', { cookie });
    await api.post('/api/session', { key: 'not-a-key-of-ours' });
    expect(JSON.stringify(api.lines)).not.toMatch(/second-key|not-a-key-of-ours/);
    expect(JSON.stringify(api.lines)).not.toContain(cookie.split('=').at(-1));
  });
});

describe('the cookie', () => {
  test('replaces the key: for reading, writing, the reference and streams', async () => {
    const cookie = await signIn('first-key', api, OWN);
    for (const url of ['/api/workers', '/docs', '/docs/json', '/api/openapi.json']) {
      const answer = await api.app.inject({ url, headers: { ...cookie, ...OWN } });
      expect(`${url} ${answer.statusCode}`).toBe(`${url} 200`);
    }
    const made = await api.post('/api/contexts', { title: 't' }, { ...cookie, ...OWN });
    expect(made.status).toBe(201);
    const streamed = api.get(`/api/contexts/${made.body.id}/events`, { ...cookie, ...OWN });
    await until('the stream to be open', async () =>
      /^nightshift_streams 1$/m.test((await api.get('/metrics', OPERATOR)).body),
    );
    await api.call('DELETE', `/api/contexts/${made.body.id}`, undefined, { ...cookie, ...OWN });
    expect((await streamed).status).toBe(200);
  });

  test('shows its own tenant alone', async () => {
    const made = await api.post('/api/contexts', {}, { authorization: 'Bearer first-key' });
    const path = `/api/contexts/${made.body.id}`;
    expect((await api.get(path, await signIn('second-key'))).status).toBe(200);
    expect((await api.get(path, await signIn('third-with-more'))).status).toBe(404);
  });

  test.each<{ host?: string; origin?: string; 'sec-fetch-site'?: string }>([
    {},
    { host: 'console.example', origin: 'https://evil.example' },
    { host: 'console.example', origin: 'http://console.example:81' },
    { origin: 'null' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-site' },
    { ...OWN, 'sec-fetch-site': 'cross-site' },
  ])('changes nothing for a page of another or unknown origin: %j', async (headers) => {
    const cookie = await signIn('first-key', api, headers.origin?.startsWith('https:') === true ? OWN : {});
    const refused = await api.post('/api/workers', { name: 'w' }, { ...cookie, ...headers });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
  });

  test.each([
    { host: 'console.example', origin: 'https://console.example' },
    { host: 'behind-the-proxy:3000', origin: 'https://console.example', 'sec-fetch-site': 'same-origin' },
  ])('makes changes for a page of its own origin: %j', async (headers) => {
    const made = await api.post(
      '/api/workers',
      { name: 'w' },
      { ...(await signIn('first-key', api, OWN)), ...headers },
    );
    expect(made.status).toBe(201);
  });

  test('does not count where another key is given', async () => {
    const cookie = await signIn();
    expect((await api.get('/api/workers', { ...cookie, authorization: 'Bearer wrong' })).status).toBe(401);
  });

  test('is found among others', async () => {
    const { cookie } = await signIn();
    const among = `a=b; ${cookie}; nightshift=x`;
    expect((await api.get('/api/workers', { cookie: among })).status).toBe(200);
  });

  test('is accepted by every process with the same keys, and is invalid without its key', async () => {
    const cookie = await signIn();
    const other = await openApi({ NIGHTSHIFT_API_KEYS: 'new-key:acme,first-key:acme' }, api.databaseUrl);
    expect((await other.get('/api/workers', cookie)).status).toBe(200);
    await other.close();
    const without = await openApi({ NIGHTSHIFT_API_KEYS: 'second-key:acme,first-key:globex' }, api.databaseUrl);
    expect((await without.get('/api/workers', cookie)).status).toBe(401);
    await without.close();
  });
});

describe('over TLS', () => {
  const tls = { ...OWN, 'x-forwarded-proto': 'https' };

  test('the cookie of another name is ignored: a sibling of this host can set it', async () => {
    const { headers } = await api.post('/api/session', { key: 'first-key' }, tls);
    const [value = ''] = setCookie(headers).split('=')[1]?.split(';') ?? [];
    const as = (name: string) => api.get('/api/workers', { ...tls, cookie: `${name}=${value}` });
    expect((await as('__Host-nightshift_session')).status).toBe(200);
    expect((await as('nightshift_session')).status).toBe(401);
  });
});

describe('a session', () => {
  test('ends on sign-out, for every process within a second, and no other session does', async () => {
    const other = await openApi({ NIGHTSHIFT_API_KEYS: KEYS }, api.databaseUrl);
    const [mine, another] = [await signIn('first-key', api, OWN), await signIn()];
    expect((await other.get('/api/workers', mine)).status).toBe(200);
    expect((await api.call('DELETE', '/api/session', undefined, { ...mine, ...OWN })).status).toBe(204);
    expect((await api.get('/api/workers', mine)).status).toBe(401);
    await until('the other process to see it', async () => (await other.get('/api/workers', mine)).status === 401);
    expect((await api.get('/api/workers', another)).status).toBe(200);
    await other.close();
  });

  test('ends after a week, and is deleted some time later', async () => {
    const mine = await signIn();
    await api.database.db.execute(sql`update sessions set expires_at = now() - interval '1 millisecond'`);
    await until('it to be over', async () => (await api.get('/api/workers', mine)).status === 401);
    const fresh = await signIn();
    expect(await forgetSessions(api.database.db, 1_000)).toBeGreaterThan(0);
    expect(await forgetSessions(api.database.db, 1_000)).toBe(0);
    expect((await api.get('/api/workers', fresh)).status).toBe(200);
  });

  test('is stored without the content of the cookie, and without the key', async () => {
    const { cookie } = await signIn();
    const rows = JSON.stringify(await api.database.db.execute(sql`select * from sessions`));
    expect(rows).not.toContain(cookie.split('=')[1]);
    expect(rows).not.toContain('first-key');
  });

  test('is read once a second, and not at all for an invalid token', async () => {
    const mine = await signIn();
    const looked = () => api.statements.filter((text) => tagOf(text) === 'sessions.find').length;
    const before = looked();
    for (const value of ['', 'k', '%', '%00', 'A'.repeat(42), 'A'.repeat(44), '1.9999999999.x'])
      expect((await api.get('/api/workers', { cookie: `nightshift_session=${value}` })).status).toBe(401);
    expect(looked()).toBe(before);
    for (let asked = 0; asked < 5; asked += 1) expect((await api.get('/api/workers', mine)).status).toBe(200);
    expect(looked() - before).toBeLessThan(5);
  });
});

describe('event streams', () => {
  const open = (of: Api) => async (): Promise<number> =>
    Number(/^nightshift_streams (\d+)$/m.exec((await of.get('/metrics', OPERATOR)).body)?.[1]);

  test('of a session end with it, in every process, and no others do', async () => {
    const other = await openApi({ NIGHTSHIFT_API_KEYS: KEYS, NIGHTSHIFT_ADMIN_KEY: ADMIN_KEY }, api.databaseUrl);
    const [mine, another] = [await signIn('first-key', api, OWN), await signIn('first-key', api, OWN)];
    const bearer = { authorization: 'Bearer first-key' };
    const { body: made } = await api.post('/api/contexts', {}, bearer);
    const path = `/api/contexts/${made.id}/events`;
    const here = api.get(path, { ...mine, ...OWN });
    const there = [other.get(path, { ...mine, ...OWN }), other.get(path, { ...mine, ...OWN })];
    const going = [another, bearer].map((who) => other.get(path, { ...who, ...OWN }));
    await until('all streams to be open', async () => (await open(api)()) + (await open(other)()) === 5);
    expect((await api.call('DELETE', '/api/session', undefined, { ...mine, ...OWN })).status).toBe(204);
    expect((await here).status).toBe(200);
    for (const answer of await Promise.all(there)) expect(answer.status).toBe(200);
    await until('their places to be free', async () => (await open(other)()) === 2);
    await api.call('DELETE', `/api/contexts/${made.id}`, undefined, bearer);
    await Promise.all(going);
    await other.close();
  });

  test('end with a session that is over after a week', async () => {
    const mine = await signIn('first-key', api, OWN);
    const { body: made } = await api.post('/api/contexts', {}, { ...mine, ...OWN });
    const streamed = api.get(`/api/contexts/${made.id}/events`, { ...mine, ...OWN });
    await until('the stream to be open', async () => (await open(api)()) === 1);
    await api.database.db.execute(sql`update sessions set expires_at = now() - interval '1 millisecond'`);
    expect((await streamed).status).toBe(200);
  });
});

describe('guessing keys', () => {
  test('ends after ten wrong ones in a minute, even with the right one', async () => {
    const own = await openApi({ NIGHTSHIFT_API_KEYS: KEYS });
    for (let tried = 0; tried < 10; tried += 1)
      expect((await own.post('/api/session', { key: `wrong-${tried}` })).status).toBe(401);
    const { status, headers, body } = await own.post('/api/session', { key: 'first-key' });
    expect([status, body.error.code]).toEqual([429, 'rate_limited']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect((await own.get('/api/workers', { authorization: 'Bearer first-key' })).status).toBe(200);
    await own.close();
  });

  test('and sessions of one key are thirty in a minute', async () => {
    const own = await openApi({ NIGHTSHIFT_API_KEYS: KEYS });
    for (let made = 0; made < 30; made += 1) await signIn('first-key', own);
    expect((await own.post('/api/session', { key: 'first-key' })).status).toBe(429);
    expect((await own.post('/api/session', { key: 'second-key' })).status).toBe(204);
    await own.close();
  });
});

describe('guessing keys behind a proxy', () => {
  const PROXY = '127.0.0.1';
  const from = (address: string) => ({ 'x-forwarded-for': address });

  async function exhaust(own: Api, headers: (tried: number) => Record<string, string>): Promise<void> {
    for (let tried = 0; tried < 10; tried += 1) {
      const wrong = await own.post('/api/session', { key: `wrong-${tried}` }, headers(tried));
      expect(wrong.status).toBe(401);
    }
  }
  const signInStatus = async (own: Api, address: string): Promise<number> =>
    (await own.post('/api/session', { key: 'first-key' }, from(address))).status;

  test('that is trusted is counted by the address that it names: other addresses are not affected', async () => {
    const own = await openApi({
      NIGHTSHIFT_API_KEYS: KEYS,
      NIGHTSHIFT_TRUSTED_PROXIES: `10.0.0.0/8, ${PROXY}`,
    });
    await exhaust(own, () => from('203.0.113.7'));
    expect(await signInStatus(own, '203.0.113.7')).toBe(429);
    // The client's own part of the header is further left, and the inner proxy's address further right.
    expect(await signInStatus(own, '198.51.100.1, 203.0.113.7, 10.1.2.3')).toBe(429);
    expect(await signInStatus(own, '203.0.113.7:40123')).toBe(429);
    expect(await signInStatus(own, '203.0.113.8')).toBe(204);
    await own.close();
  });

  test('over IPv6 is counted by the /64 network, however its address is written', async () => {
    const own = await openApi({ NIGHTSHIFT_API_KEYS: KEYS, NIGHTSHIFT_TRUSTED_PROXIES: PROXY });
    await exhaust(own, (tried) => from(`2001:db8::${tried + 1}:2:3:4`));
    expect(await signInStatus(own, '2001:db8::99')).toBe(429);
    expect(await signInStatus(own, '2001:db8:0:1::99')).toBe(204);
    await own.close();
  });

  test.each([undefined, '10.0.0.0/8'])('that is not trusted (%s) is counted by its own address', async (trusted) => {
    const own = await openApi({ NIGHTSHIFT_API_KEYS: KEYS, NIGHTSHIFT_TRUSTED_PROXIES: trusted });
    await exhaust(own, (tried) => from(`203.0.113.${tried}`));
    expect(await signInStatus(own, '203.0.113.99')).toBe(429);
    await own.close();
  });
});

test('without keys there is no sign-in, and every request is that of the default tenant', async () => {
  const open = await openApi();
  expect((await open.get('/api/session')).body).toEqual({
    auth: 'none',
    signed_in: true,
    tenant: 'default',
    user: null,
    scopes: [...SCOPES],
    oidc: null,
  });
  const { status, headers } = await open.post('/api/session', { key: 'any' });
  expect([status, headers['set-cookie']]).toEqual([204, undefined]);
  expect((await open.get('/api/session', { host: 'evil.example' })).status).toBe(403);
  await open.close();
});
