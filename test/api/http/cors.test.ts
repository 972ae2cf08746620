// Web pages of other origins: only those that the operator lists, with a key or token, without cookies.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../e2e/rig/until.ts';
import { openApi, type Api } from '../harness.ts';

const PAGE = 'https://app.example.com';
const KEY = { authorization: 'Bearer the-key-of-acme' };
const ALLOWED = 'access-control-allow-origin';

let api: Api;
beforeAll(async () => {
  api = await openApi({
    NIGHTSHIFT_API_KEYS: 'the-key-of-acme:acme',
    NIGHTSHIFT_ADMIN_KEY: 'the-key-of-the-operator',
    NIGHTSHIFT_CORS_ORIGINS: `${PAGE},http://localhost:5173`,
  });
});
afterAll(() => api.close());

async function preflight(path: string, origin: string, method = 'POST') {
  const { statusCode, headers } = await api.app.inject({
    method: 'OPTIONS',
    url: path,
    headers: {
      host: 'localhost',
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type,idempotency-key',
    },
  });
  return { status: statusCode, headers };
}

test('a preflight of a listed origin needs no key, and allows what clients send', async () => {
  for (const path of ['/api/workers', '/api/contexts/x/messages', '/api/nothing']) {
    const { status, headers } = await preflight(path, PAGE);
    expect([path, status, headers[ALLOWED]]).toEqual([path, 204, PAGE]);
    expect(headers['access-control-allow-methods']).toBe('GET, HEAD, POST, PUT, PATCH, DELETE');
    expect(headers['access-control-allow-headers']).toContain('authorization, content-type, idempotency-key');
    expect(headers['access-control-allow-headers']).toContain('traceparent, tracestate');
    expect(headers['access-control-allow-credentials']).toBeUndefined();
    expect(headers['vary']).toContain('Origin');
  }
});

test('a page of a listed origin reads answers and errors', async () => {
  const page = { ...KEY, origin: PAGE, 'sec-fetch-site': 'cross-site' };
  const made = await api.post('/api/workers', { name: 'w' }, page);
  expect([made.status, made.headers[ALLOWED]]).toEqual([201, PAGE]);
  expect(made.headers['access-control-expose-headers']).toContain('etag');
  const missing = await api.get('/api/jobs/x', page);
  expect([missing.status, missing.headers[ALLOWED]]).toEqual([404, PAGE]);
  const refused = await api.get('/api/workers', { origin: PAGE });
  expect([refused.status, refused.headers[ALLOWED]]).toEqual([401, PAGE]);
});

describe('no page of another origin', () => {
  test.each([
    ['https://evil.example.com'],
    ['http://app.example.com'],
    [`${PAGE}:8443`],
    [`${PAGE}.evil.com`],
    ['null'],
    [''],
  ])('%j', async (origin) => {
    const { status, headers } = await preflight('/api/workers', origin);
    // It is no preflight, and needs a key like all requests.
    expect([status, headers[ALLOWED]]).toEqual([401, undefined]);
    const answer = await api.get('/api/workers', { ...KEY, origin });
    expect([answer.status, answer.headers[ALLOWED]]).toEqual([200, undefined]);
  });

  test('reads what is not of the API', async () => {
    for (const path of ['/', '/docs', '/metrics', '/healthz']) {
      const { headers } = await preflight(path, PAGE, 'GET');
      expect([path, headers[ALLOWED]]).toEqual([path, undefined]);
    }
  });
});

test('a cookie counts for no page of another origin, listed or not', async () => {
  const signIn = await api.post('/api/session', { key: 'the-key-of-acme' });
  const cookie = String(signIn.headers['set-cookie']).split(';')[0] ?? '';
  const page = { cookie, origin: 'http://localhost:5173', 'sec-fetch-site': 'cross-site' };
  expect((await api.get('/api/workers', page)).status).toBe(403);
  expect((await api.post('/api/workers', { name: 'w' }, page)).status).toBe(403);
  expect((await api.post('/api/session', { key: 'the-key-of-acme' }, page)).status).toBe(403);
});

test('an event stream can be read by a page, and a compressed answer varies by origin, too', async () => {
  const page = { ...KEY, origin: PAGE };
  const { body: context } = await api.post('/api/contexts', { title: 't'.repeat(500) }, page);
  const streamed = api.get(`/api/contexts/${context.id}/events`, page);
  await until('the stream to be open', async () =>
    /^nightshift_streams 1$/m.test(
      (await api.get('/metrics', { authorization: 'Bearer the-key-of-the-operator' })).body,
    ),
  );
  await api.call('DELETE', `/api/contexts/${context.id}`, undefined, page);
  expect((await streamed).headers[ALLOWED]).toBe(PAGE);
  for (let made = 0; made < 20; made += 1) await api.post('/api/contexts', { title: 't'.repeat(500) }, page);
  const asked = { ...page, host: 'localhost', 'accept-encoding': 'gzip' };
  const { headers } = await api.app.inject({ method: 'GET', url: '/api/contexts', headers: asked });
  expect([headers['content-encoding'], headers['vary']]).toEqual(['gzip', 'Origin, accept-encoding']);
});

test('a page of a listed origin may use a key that the API made, also if its environment has none', async () => {
  const made = await openApi({ NIGHTSHIFT_CORS_ORIGINS: PAGE });
  const { body } = await made.post('/api/keys', { name: 'k', scopes: ['keys', 'read'] });
  const page = { authorization: `Bearer ${body.key}`, origin: PAGE, 'sec-fetch-site': 'cross-site' };
  const { status, headers } = await made.get('/api/workers', page);
  expect([status, headers[ALLOWED]]).toEqual([200, PAGE]);
  expect((await made.get('/api/workers', { ...page, host: 'evil.example.com' })).status).toBe(403);
  expect((await made.get('/api/workers', { origin: PAGE })).status).toBe(403);
  await made.close();
});

test('without the setting no answer has such headers, and without keys a listed origin is refused', async () => {
  const plain = await openApi({ NIGHTSHIFT_API_KEYS: 'the-key-of-acme:acme' }, api.databaseUrl);
  expect((await plain.get('/api/workers', { ...KEY, origin: PAGE })).headers[ALLOWED]).toBeUndefined();
  await plain.close();
  const keyless = await openApi({ NIGHTSHIFT_CORS_ORIGINS: PAGE });
  expect((await keyless.get('/api/workers', { origin: PAGE })).status).toBe(403);
  await keyless.close();
});
