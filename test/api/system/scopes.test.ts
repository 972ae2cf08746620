// Scopes of keys: every operation of the document, with every scope but the one that it needs.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCOPES } from '../../../src/core/access/scopes.ts';
import Fastify from 'fastify';
import { refuseOtherMethods } from '../../../src/api/server/methods.ts';
import type { App } from '../../../src/api/server/ports.ts';
import { openApi, type Api } from '../harness.ts';

const KEYS = [
  ...SCOPES.map((scope) => `key-that-lacks-${scope}:acme:${SCOPES.filter((one) => one !== scope).join('+')}`),
  ...SCOPES.map((scope) => `key-with-only-${scope}:acme:${scope}`),
  'key-with-all-scopes:acme',
].join(',');

const withKey = (key: string) => ({ authorization: `Bearer ${key}` });

let api: Api;
let paths: Record<string, Record<string, { security?: { key?: string[] }[] }>>;
beforeAll(async () => {
  api = await openApi({ NIGHTSHIFT_API_KEYS: KEYS });
  const { body } = await api.get('/api/openapi.json', withKey('key-with-all-scopes'));
  paths = body.paths;
});
afterAll(() => api.close());

/** Operations that no scope guards: probes, signing in, and what every key may see. */
const UNSCOPED = [
  'get /healthz',
  'get /readyz',
  'get /metrics',
  'get /metrics/load',
  'delete /api/providers/{name}/throttles/{id}',
  'get /api/processes',
  'post /api/processes/{id}/pause',
  'post /api/processes/{id}/resume',
  'post /api/processes/{id}/drain',
  'get /api/tenants',
  'post /api/tenants',
  'get /api/tenants/{name}',
  'patch /api/tenants/{name}',
  'delete /api/tenants/{name}',
  'get /api/session',
  'post /api/session',
  'delete /api/session',
];

type Operation = { name: string; method: string; url: string; scope: string | null };

function operations(): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]): Operation => ({
      name: `${method} ${path}`,
      method: method.toUpperCase(),
      url: path.replaceAll(/\{[^}]+\}/g, '00000000-0000-7000-8000-000000000000'),
      scope: security?.[0]?.key?.[0] ?? null,
    })),
  );
}

test('a route that declares no access keeps the API from starting', () => {
  const app = Fastify() as unknown as App;
  const refuseOthers = refuseOtherMethods(app);
  app.get('/declared', { config: { access: 'read', tokens: 'none' } }, async () => null);
  app.get('/forgotten', async () => null);
  expect(refuseOthers).toThrow('A route of /forgotten (GET, HEAD) declares no access.');
});

test.each(['read', 'run', 'approve', 'read_or_operator'] as const)(
  'a route for %s that does not declare what tokens reach keeps the API from starting',
  (access) => {
    const app = Fastify() as unknown as App;
    const refuseOthers = refuseOtherMethods(app);
    app.get('/configured', { config: { access: 'configure' } }, async () => null);
    app.get('/forgotten', { config: { access } }, async () => null);
    expect(refuseOthers).toThrow('A route of /forgotten (GET, HEAD) does not declare what tokens reach.');
  },
);

test('the document names the scope of every operation', () => {
  const unscoped = operations().filter(({ scope }) => scope === null);
  expect(unscoped.map(({ name }) => name).sort()).toEqual([...UNSCOPED].sort());
  for (const { scope } of operations()) if (scope !== null) expect(SCOPES).toContain(scope);
});

test('a key that lacks the scope of an operation is refused, and no other is', async () => {
  for (const { name, method, url, scope } of operations()) {
    if (scope === null) continue;
    for (const lacking of SCOPES) {
      // That stream does not end by itself.
      const sent = url === '/api/events' && lacking !== scope ? 'HEAD' : method;
      const { status, body } = await api.call(sent, url, undefined, withKey(`key-that-lacks-${lacking}`));
      if (lacking === scope) {
        expect(`${name} without ${lacking}: ${status}`).toBe(`${name} without ${lacking}: 403`);
        expect(body.error).toMatchObject({ code: 'forbidden', message: expect.stringContaining(`the scope ${scope}`) });
      } else {
        expect(`${name} without ${lacking}: ${status}`).not.toBe(`${name} without ${lacking}: 403`);
      }
    }
  }
});

describe('a config of a worker’s own', () => {
  const only = (scope: string) => withKey(`key-with-only-${scope}`);

  test('needs configure: to make, to change', async () => {
    const run = only('run');
    const made = await api.post('/api/workers', { name: 'w' }, run);
    expect(made.status).toBe(201);
    const config = { max_steps: 3 };
    for (const [path, body] of [
      ['/api/workers', { name: 'w', config }],
      ['/api/contexts', { config }],
    ] as const) {
      const { status, body: answer } = await api.post(path, body, run);
      expect([path, status]).toEqual([path, 403]);
      expect(answer.error.message).toBe('A config needs the scope configure. Your scopes: run.');
    }
    const url = `/api/workers/${made.body.id}`;
    expect((await api.call('PATCH', url, { config }, run)).status).toBe(403);
    expect((await api.call('PATCH', url, { name: 'other' }, run)).status).toBe(200);
    expect((await api.call('PATCH', url, { config }, withKey('key-that-lacks-approve'))).status).toBe(200);
    const context = `/api/contexts/${made.body.context_id}`;
    expect((await api.call('PATCH', context, { config }, run)).status).toBe(403);
    expect((await api.call('PATCH', context, { title: 'mine' }, run)).status).toBe(200);
  });

  test('an empty one needs nothing', async () => {
    expect((await api.post('/api/workers', { name: 'w', config: {} }, only('run'))).status).toBe(201);
  });
});

test('a session has the scopes of its key', async () => {
  const own = { host: 'console.example', origin: 'https://console.example', 'sec-fetch-site': 'same-origin' };
  const { headers } = await api.post('/api/session', { key: 'key-with-only-read' }, own);
  const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
  expect((await api.get('/api/workers', { ...own, cookie })).status).toBe(200);
  const { status, body } = await api.post('/api/workers', { name: 'w' }, { ...own, cookie });
  expect(status).toBe(403);
  expect(body.error.message).toContain('the scope run');
});

test('a method that a path does not have is 405, whatever the key may do', async () => {
  for (const scope of SCOPES)
    expect((await api.call('PUT', '/api/workers', {}, withKey(`key-with-only-${scope}`))).status).toBe(405);
});

test('HEAD and the reference page need what GET needs', async () => {
  for (const path of ['/api/workers', '/docs', '/docs/json', '/docs/static/swagger-ui.css']) {
    expect([path, (await api.call('HEAD', path, undefined, withKey('key-that-lacks-read'))).status]).toEqual([
      path,
      403,
    ]);
    expect([path, (await api.call('HEAD', path, undefined, withKey('key-with-only-read'))).status]).toEqual([
      path,
      200,
    ]);
  }
});

test('another role needs configure: approval rules end with a role', async () => {
  const made = await api.post('/api/workers', { name: 'w' }, withKey('key-with-only-run'));
  const url = `/api/workers/${made.body.id}`;
  expect((await api.call('PATCH', url, { role: null }, withKey('key-with-only-run'))).status).toBe(403);
  expect((await api.call('PATCH', url, { config: { approval: null } }, withKey('key-with-only-run'))).status).toBe(403);
});
