import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseEnvironment } from '../../../src/config/config.ts';
import { openAccessControl } from '../../../src/api/access/access.ts';
import { isLoopback } from '../../../src/config/loopback.ts';
import { ALL_SCOPES } from '../../../src/core/access/scopes.ts';
import type { AccessHeaders } from '../../../src/api/access/access-request.ts';
import { openApi, type Api } from '../harness.ts';

/** Without a body there is no key to compare. */
const SIGN_IN_STATUS: Readonly<Record<string, number>> = { get: 200, post: 422, delete: 204 };

const KEYS = 'first-key:acme,second-key:acme,third-with-more:globex';

describe('with keys', () => {
  let api: Api;
  beforeAll(async () => {
    api = await openApi({ NIGHTSHIFT_API_KEYS: KEYS });
  });
  afterAll(() => api.close());

  test('every route but the probes and signing in needs one', async () => {
    for (const [path, methods] of Object.entries(api.contract.document.paths)) {
      for (const method of Object.keys(methods)) {
        const url = path.replaceAll(/\{[^}]+\}/g, '00000000-0000-7000-8000-000000000000');
        const { status, headers, body } = await api.call(method.toUpperCase(), url);
        if (path === '/healthz' || path === '/readyz') {
          expect(status).toBe(200);
          continue;
        }
        if (path === '/api/session') {
          expect(`${method} ${status}`).toBe(`${method} ${SIGN_IN_STATUS[method]}`);
          continue;
        }
        expect(`${method} ${path} ${status}`).toBe(`${method} ${path} 401`);
        expect(headers['www-authenticate']).toBe('Bearer realm="nightshift"');
        expect(body.error).toMatchObject({ code: 'unauthorized', type: 'authentication_error' });
      }
    }
    expect((await api.get('/nowhere')).status).toBe(401);
  });

  test.each([
    'Bearer wrong',
    'Bearer first-ke',
    'Bearer first-key2',
    'Bearer ',
    'Basic first-key',
    'first-key',
    'Bearer first-key second-key',
    'Bearer first-key:acme',
  ])('"%s" is none', async (authorization) => {
    expect((await api.get('/api/workers', { authorization })).status).toBe(401);
  });

  test.each(['Bearer first-key', 'bearer second-key', 'Bearer  third-with-more'])(
    '"%s" is valid, whatever Host and Origin are',
    async (authorization) => {
      const headers = { authorization, host: 'nightshift.example', origin: 'https://elsewhere.example' };
      expect((await api.get('/api/workers', headers)).status).toBe(200);
    },
  );

  test('the document requires one', async () => {
    const { body } = await api.get('/api/openapi.json', { authorization: 'Bearer first-key' });
    expect(body.security).toEqual([{ key: [] }, { session: [] }]);
    expect(Object.keys(body.components.securitySchemes)).toEqual(['key', 'session']);
    expect(body.paths['/healthz'].get.security).toEqual([]);
  });

  test('the log shows neither keys nor contents, but the tenant of each request', async () => {
    const authorization = 'Bearer first-key';
    const made = await api.post('/api/contexts', { title: 'secret title' }, { authorization });
    const path = `/api/contexts/${made.body.id}/messages`;
    const { headers } = await api.post(path, { content: 'secret words' }, { authorization });
    await api.post(path, { contents: 'secret words' }, { authorization });
    await api.get(`${path}?cursor=secret`, { authorization });
    const log = JSON.stringify(api.lines);
    expect(log).not.toMatch(/first-key|secret/);
    expect(api.lines).toContainEqual(
      expect.objectContaining({
        reqId: headers['x-request-id'],
        method: 'POST',
        route: '/api/contexts/:id/messages',
        status: 202,
        ms: expect.any(Number),
        tenant: 'acme',
      }),
    );
  });
});

/** Paths that the admin key opens, or a session of it. They show no data of a tenant. */
const OF_OPERATORS = [
  '/metrics',
  '/metrics/load',
  '/api/system',
  '/api/tools',
  '/api/providers/{name}/throttles/{id}',
  '/api/processes',
  '/api/processes/{id}/pause',
  '/api/processes/{id}/resume',
  '/api/processes/{id}/drain',
  '/api/tenants',
  '/api/tenants/{name}',
  '/api/audit',
];
/** The operator names the tenant. */
const OF_ANY_TENANT = '/api/usage';
/** The admin key makes the first key of a tenant. */
const MAKES_FIRST_KEY = 'post /api/keys';

describe('with an admin key', () => {
  const KEY = 'the-key-of-the-operator';
  const tenant = { authorization: 'Bearer first-key' };
  const configFile = { authorization: `Bearer ${KEY}` };
  let api: Api;
  beforeAll(async () => {
    api = await openApi({ NIGHTSHIFT_API_KEYS: KEYS, NIGHTSHIFT_ADMIN_KEY: KEY });
  });
  afterAll(() => api.close());

  test('metrics and throttles are for the operator, and the error tells a tenant so', async () => {
    expect((await api.get('/metrics', configFile)).status).toBe(200);
    const throttle = '/api/providers/openai/throttles/none';
    expect((await api.call('DELETE', throttle, undefined, configFile)).status).toBe(404);
    expect((await api.call('DELETE', throttle, undefined, tenant)).status).toBe(403);
    const { status, body } = await api.get('/metrics', tenant);
    expect(status).toBe(403);
    expect(body.error).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('NIGHTSHIFT_ADMIN_KEY'),
    });
  });

  test('worker processes and answers of providers are for the operator', async () => {
    const { body: all } = await api.get('/api/system', configFile);
    expect(all.processes).toEqual([]);
    const { status, body } = await api.get('/api/system', tenant);
    expect(status).toBe(200);
    expect(body.processes).toBeNull();
    expect(body.version).toBe(all.version);
  });

  const ofPage = { host: 'console.example', origin: 'http://console.example', 'sec-fetch-site': 'same-origin' };
  const inBrowser = async (): Promise<Record<string, string>> => {
    const { headers } = await api.post('/api/session', { key: KEY }, ofPage);
    return { ...ofPage, cookie: String(headers['set-cookie']).split(';')[0] ?? '' };
  };

  test.each([
    ['the key', async () => configFile],
    ['a browser session of it', inBrowser],
  ])('%s sees no data of a tenant', async (_, credentials) => {
    const operator: Record<string, string> = await credentials();
    for (const [path, methods] of Object.entries(api.contract.document.paths)) {
      if (
        OF_OPERATORS.includes(path) ||
        path === OF_ANY_TENANT ||
        ['/healthz', '/readyz', '/api/session'].includes(path)
      )
        continue;
      for (const method of Object.keys(methods)) {
        if (`${method} ${path}` === MAKES_FIRST_KEY) continue;
        const url = path.replaceAll(/\{[^}]+\}/g, '00000000-0000-7000-8000-000000000000');
        const { status, body } = await api.call(method.toUpperCase(), url, undefined, operator);
        expect(`${method} ${path} ${status}`).toBe(`${method} ${path} 403`);
        // Not because of where the request comes from.
        expect(body.error.message).toContain('no access to the data of a tenant');
      }
    }
    expect((await api.get('/api/session', operator)).body).toEqual({
      auth: 'key',
      signed_in: true,
      tenant: null,
      user: null,
      scopes: ['operator'],
      oidc: null,
    });
  });

  test('alone it requires a key for every request', async () => {
    const alone = await openApi({ NIGHTSHIFT_ADMIN_KEY: KEY });
    expect((await alone.get('/api/workers')).status).toBe(401);
    expect((await alone.get('/metrics')).status).toBe(401);
    expect((await alone.get('/metrics', configFile)).status).toBe(200);
    await alone.close();
  });
});

describe('with a key for metrics', () => {
  const KEY = 'the-key-of-a-scraper';
  const scraper = { authorization: `Bearer ${KEY}` };
  const operator = { authorization: 'Bearer the-key-of-the-operator' };
  let api: Api;
  beforeAll(async () => {
    api = await openApi({
      NIGHTSHIFT_API_KEYS: KEYS,
      NIGHTSHIFT_ADMIN_KEY: 'the-key-of-the-operator',
      NIGHTSHIFT_METRICS_KEY: KEY,
    });
  });
  afterAll(() => api.close());

  test('it opens the metrics, as the admin key does', async () => {
    expect((await api.get('/metrics', scraper)).status).toBe(200);
    for (const who of [scraper, operator])
      expect((await api.get('/metrics/load', who)).body).toEqual({
        slots_needed: 0,
        running: 0,
        runnable: 0,
        worker_processes: 0,
      });
  });

  test('the load counts contexts of every tenant that run or wait for a slot, and no others', async () => {
    const { authorization } = { authorization: 'Bearer first-key' };
    const made = await api.post('/api/workers', { name: 'w', input: { content: 'say: hi' } }, { authorization });
    expect(made.status).toBe(201);
    const more = { content: 'say: more' };
    expect((await api.post(`/api/contexts/${made.body.context_id}/messages`, more, { authorization })).status).toBe(
      202,
    );
    expect((await api.post('/api/workers', { name: 'idle' }, { authorization })).status).toBe(201);
    expect((await api.get('/metrics/load', scraper)).body).toMatchObject({ slots_needed: 1, runnable: 1, running: 0 });
  });

  test('it opens nothing else, and signs no browser in', async () => {
    for (const [path, methods] of Object.entries(api.contract.document.paths)) {
      if (['/metrics', '/metrics/load', '/healthz', '/readyz', '/api/session'].includes(path)) continue;
      for (const method of Object.keys(methods)) {
        const url = path.replaceAll(/\{[^}]+\}/g, '00000000-0000-7000-8000-000000000000');
        const { status, body } = await api.call(method.toUpperCase(), url, undefined, scraper);
        expect(`${method} ${path} ${status}`).toBe(`${method} ${path} 403`);
        expect(body.error.message).toContain('opens metrics only');
      }
    }
    expect((await api.get('/api/session', scraper)).body).toMatchObject({ signed_in: false });
    expect((await api.post('/api/session', { key: KEY })).status).toBe(401);
  });

  test('the load is not for tenants', async () => {
    expect((await api.get('/metrics/load', { authorization: 'Bearer first-key' })).status).toBe(403);
    expect((await api.get('/metrics/load')).status).toBe(401);
  });
});

test('with keys and without an admin key, no request gets the metrics', async () => {
  const api = await openApi({ NIGHTSHIFT_API_KEYS: KEYS });
  expect((await api.get('/metrics', { authorization: 'Bearer first-key' })).status).toBe(403);
  await api.close();
});

describe('without keys', () => {
  let api: Api;
  beforeAll(async () => {
    api = await openApi({ NIGHTSHIFT_ALLOWED_HOSTS: 'nightshift.lan, OTHER.lan' });
  });
  afterAll(() => api.close());

  test.each([
    'localhost',
    'localhost:3000',
    'LOCALHOST:3000',
    'a.localhost',
    '127.0.0.1',
    '127.0.0.1:8080',
    '127.1.2.3',
    '[::1]',
    '[::1]:3000',
    'nightshift.lan',
    'nightshift.lan:8443',
    'other.lan',
  ])('the Host %s is answered', async (host) => {
    expect((await api.get('/api/workers', { host })).status).toBe(200);
  });

  test.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'notlocalhost',
    '10.0.0.1',
    '[fe80::1]',
    '0.0.0.0',
    'evil@localhost',
    'localhost/evil',
    'sub.nightshift.lan',
  ])('the Host "%s" is not: a name may have been bound to this machine', async (host) => {
    const { status, body } = await api.get('/api/workers', { host });
    expect(status).toBe(403);
    expect(body.error).toMatchObject({ code: 'forbidden', type: 'permission_error' });
  });

  test.each([
    ['localhost:3000', 'http://localhost:3000'],
    ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['nightshift.lan', 'https://nightshift.lan'],
    ['localhost', 'http://localhost:80'],
  ])('a page of its own origin may call it: %s, %s', async (host, origin) => {
    const made = await api.post('/api/workers', { name: 'w' }, { host, origin, 'sec-fetch-site': 'same-origin' });
    expect(made.status).toBe(201);
  });

  test.each([
    { origin: 'https://evil.example' },
    { origin: 'http://localhost:5173' },
    { origin: 'http://127.0.0.1:3000' },
    { origin: 'null' },
    { origin: '' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('a page of another may not: %j', async (headers) => {
    const refused = await api.post('/api/workers', { name: 'w' }, { host: 'localhost:3000', ...headers });
    expect(refused.status).toBe(403);
    expect((await api.get('/api/workers', { host: 'localhost:3000', ...headers })).status).toBe(403);
  });

  test('the probes are answered for any client', async () => {
    for (const path of ['/healthz', '/readyz']) {
      expect((await api.get(path, { host: '10.1.2.3:3000' })).status).toBe(200);
    }
  });
});

describe('access control', () => {
  let api: Api;
  beforeAll(async () => {
    api = await openApi();
  });
  afterAll(() => api.close());
  const asked = (headers: AccessHeaders) => ({ raw: {}, headers, method: 'GET', cookies: {} });

  test('compares every key in constant time', async () => {
    const keys = [{ key: 'a', tenant: 'x', scopes: ALL_SCOPES }];
    const gate = openAccessControl({ ...parseEnvironment({}), apiKeys: keys }, api.database);
    expect(await gate.admit(asked({ authorization: 'Bearer a' }))).toEqual({
      kind: 'tenant',
      tenantId: expect.any(Number),
      tenantName: 'x',
      isOperator: false,
      credential: { kind: 'environment', tenantId: expect.any(Number) },
      scopes: ALL_SCOPES,
      allow: {},
      limits: {},
      keyLimits: {},
      key: { kind: 'env', id: expect.any(String) },
      user: null,
      token: null,
    });
    expect(await gate.admit(asked({}))).toMatchObject({ kind: 'refused', code: 'unauthorized' });
  });

  test('without keys requires a Host', async () => {
    const gate = openAccessControl(parseEnvironment({}), api.database);
    for (const headers of [{}, { host: '' }, { host: ':80' }]) {
      expect(await gate.admit(asked(headers))).toMatchObject({ kind: 'refused', code: 'forbidden' });
    }
  });

  test('answers have nosniff, and those with data no-store', async () => {
    for (const url of ['/api/workers', '/api/nothing', '/api/system', '/metrics', '/healthz', '/', '/docs/']) {
      const { headers } = await api.app.inject({ url, headers: { host: 'localhost' } });
      expect([url, headers['x-content-type-options']]).toEqual([url, 'nosniff']);
      if (url.startsWith('/api/') || url === '/metrics') expect(headers['cache-control']).toBe('no-store');
    }
  });

  test.each([
    ['127.0.0.1', true],
    ['::1', true],
    ['[::1]', true],
    ['localhost', true],
    ['0.0.0.0', false],
    ['::', false],
    ['192.168.1.1', false],
    ['example.com', false],
    ['', false],
  ])('%s is a loopback address: %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });
});
