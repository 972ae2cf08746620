// A browser that gave a key once: what its cookie is, where it is taken, and where not.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openGate } from '../../src/api/access.ts';
import { SESSION_S, openSessions } from '../../src/api/session.ts';
import type { ApiKey } from '../../src/config.ts';
import { until } from '../e2e/until.ts';
import { openApi } from './harness.ts';
import type { Api } from './harness.ts';

const KEYS = 'first-key:acme,second-key:acme,third:with:colons:globex';
const ADMIN_KEY = 'the-key-of-the-operator';
const OPERATOR = { authorization: `Bearer ${ADMIN_KEY}` };
const OWN = { host: 'console.example', origin: 'https://console.example', 'sec-fetch-site': 'same-origin' };

let api: Api;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_API_KEYS: KEYS, NIGHTSHIFT_ADMIN_KEY: ADMIN_KEY });
});
afterAll(() => api.close());

/** The header that a browser sends from then on. */
async function signIn(key = 'first-key', to: Api = api): Promise<{ cookie: string }> {
  const { status, headers } = await to.post('/api/session', { key });
  expect(status).toBe(204);
  return { cookie: setCookie(headers).split(';')[0] ?? '' };
}

function setCookie(headers: Record<string, string>): string {
  return String(headers['set-cookie']);
}

describe('signing in', () => {
  test('sets a cookie that no script reads, and that does not hold the key', async () => {
    const { status, headers, body } = await api.post('/api/session', { key: 'first-key' });
    expect([status, body]).toEqual([204, '']);
    expect(setCookie(headers)).toMatch(
      /^nightshift_session=1\.\d+\.[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/,
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
  });

  test.each(['wrong', 'first-ke', 'first-key2', 'first-key:acme', ' first-key', 'é'])(
    'with "%s" is refused, without a hint and without a cookie',
    async (key) => {
      const { status, headers, body } = await api.post('/api/session', { key });
      expect(status).toBe(401);
      expect(body.error).toMatchObject({ code: 'unauthorized', message: 'This key is not known here.' });
      expect(headers['set-cookie']).toBeUndefined();
    },
  );

  test.each([{}, { key: '' }, { key: 1 }, { key: null }, { key: 'x'.repeat(1_001) }, { key: 'a', b: 1 }, []])(
    'with %j is no request',
    async (body) => {
      expect((await api.post('/api/session', body)).status).toBe(422);
    },
  );

  test.each([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('from a page of somewhere else is refused: %j', async (headers) => {
    const given = headers as Record<string, string>;
    for (const method of ['POST', 'DELETE']) {
      const body = method === 'POST' ? { key: 'first-key' } : undefined;
      const answer = await api.call(method, '/api/session', body, given);
      expect(answer.status).toBe(403);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
  });

  test('is told of, and undone', async () => {
    const nobody = { auth: 'key', signed_in: false, tenant: null };
    expect((await api.get('/api/session')).body).toEqual(nobody);
    const somebody = { auth: 'key', signed_in: true, tenant: 'globex' };
    expect((await api.get('/api/session', await signIn('third:with:colons'))).body).toEqual(somebody);
    expect((await api.get('/api/session', { authorization: 'Bearer third:with:colons' })).body).toEqual(
      somebody,
    );
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
    expect(JSON.stringify(api.lines)).not.toContain(cookie.split('.').at(-1));
  });
});

describe('the cookie', () => {
  test('stands for the key: for reading, writing, the reference and streams', async () => {
    const cookie = await signIn();
    for (const url of ['/api/workers', '/docs', '/docs/json', '/api/openapi.json']) {
      const answer = await api.app.inject({ url, headers: { ...cookie } });
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
    expect((await api.get(path, await signIn('third:with:colons'))).status).toBe(404);
  });

  test.each([
    {},
    { host: 'console.example', origin: 'https://evil.example' },
    { host: 'console.example', origin: 'http://console.example:81' },
    { origin: 'null' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-site' },
    { ...OWN, 'sec-fetch-site': 'cross-site' },
  ])('changes nothing for a page of somewhere else, or of nobody knows where: %j', async (headers) => {
    const cookie = await signIn();
    const refused = await api.post('/api/workers', { name: 'w' }, { ...cookie, ...headers });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
  });

  test.each([
    { host: 'console.example', origin: 'https://console.example' },
    { host: 'behind-the-proxy:3000', origin: 'https://console.example', 'sec-fetch-site': 'same-origin' },
  ])('changes what a page of its own asks for: %j', async (headers) => {
    const made = await api.post('/api/workers', { name: 'w' }, { ...(await signIn()), ...headers });
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

  test('is taken by every process with the same keys, and dies with its key', async () => {
    const cookie = await signIn();
    const other = await openApi({ NIGHTSHIFT_API_KEYS: 'new-key:acme,first-key:acme' });
    expect((await other.get('/api/workers', cookie)).status).toBe(200);
    await other.close();
    const without = await openApi({ NIGHTSHIFT_API_KEYS: 'second-key:acme,first-key:globex' });
    expect((await without.get('/api/workers', cookie)).status).toBe(401);
    await without.close();
  });
});

describe('what it holds', () => {
  const key: ApiKey = { key: 'k', tenant: 'acme' as never };
  const other: ApiKey = { key: 'l', tenant: 'globex' as never };
  const sessions = openSessions([key, other]);
  const now = Date.parse('2026-11-22T00:00:00Z');
  const whose = (value: string, at = now) => sessions.tenantOf(value, at);

  test('is good for a week', () => {
    const value = sessions.begin(key, now);
    expect(whose(value)).toBe('acme');
    expect(whose(value, now + SESSION_S * 1_000 - 1)).toBe('acme');
    expect(whose(value, now + SESSION_S * 1_000)).toBeNull();
    expect(whose(sessions.begin(other, now))).toBe('globex');
  });

  test('cannot be made longer, nor be made without the key', () => {
    const [version, end, proof] = sessions.begin(key, now).split('.');
    for (const value of [
      `1.${Number(end) + 1}.${proof}`,
      `1.0${end}.${proof}`,
      `1.${end}.${proof?.slice(1)}A`,
      `1.${end}.${proof}A`,
      `1.${end}.`,
      `1.${end}`,
      `2.${end}.${proof}`,
      `${version}.${end}.${proof}.x`,
      `1.-1.${proof}`,
      `1.NaN.${proof}`,
      `1.999999999999.${'A'.repeat(43)}`,
      'k',
      '',
      '%',
      '%00',
    ]) {
      expect(`${value} ${whose(value)}`).toBe(`${value} null`);
    }
  });

  test('without keys nobody signs in, and everybody is', async () => {
    expect(openGate({ apiKeys: [], adminKey: null, allowedHosts: [] }).signIn('')).toBeNull();
    const open = await openApi();
    expect((await open.get('/api/session')).body).toEqual({
      auth: 'none',
      signed_in: true,
      tenant: 'default',
    });
    const { status, headers } = await open.post('/api/session', { key: 'any' });
    expect([status, headers['set-cookie']]).toEqual([204, undefined]);
    expect((await open.get('/api/session', { host: 'evil.example' })).status).toBe(403);
    await open.close();
  });
});
