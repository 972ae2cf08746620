// Limits of one API key, beside those of its tenant.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApi, type Answer, type Api, type Body } from '../harness.ts';

const withKey = (key: string) => ({ authorization: `Bearer ${key}` });
const MAKER = withKey('of-the-environment');

let api: Api;
beforeAll(async () => {
  api = await openApi({
    NIGHTSHIFT_API_KEYS: 'of-the-environment:acme',
    NIGHTSHIFT_ADMIN_KEY: 'the-key-of-the-operator',
  });
});
afterAll(() => api.close());

async function keyWith(limits: object, scopes = ['read', 'run']): Promise<Body> {
  const { status, body } = await api.post('/api/keys', { name: 'partner', scopes, limits }, MAKER);
  expect(status).toBe(201);
  return body;
}

function expectExceeded({ status, headers, body }: Answer, param: string): void {
  expect([status, body.error?.code, body.error?.param]).toEqual([429, 'quota_exceeded', `key_${param}`]);
  expect(body.error?.message).toMatch(/^The API key may /);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
}

test('are shown with the key, and kept by a rotation', async () => {
  const made = await keyWith({ requests_per_s: 500 });
  const limits = { requests_per_s: 500, concurrent_requests: null };
  expect(made.limits).toEqual(limits);
  const rotated = await api.post(`/api/keys/${made.id}/rotate`, {}, MAKER);
  expect(rotated.body).toMatchObject({ replaces: made.id, limits });
  const listed = await api.get('/api/keys', MAKER);
  expect(listed.body.data.slice(0, 2).map((key: Body) => key.limits)).toEqual([limits, limits]);
  expect((await keyWith({})).limits).toEqual({ requests_per_s: null, concurrent_requests: null });
  const { body } = await api.get('/api/audit?action=key.created', MAKER);
  expect(body.data[1]).toMatchObject({ target: made.id, detail: { limits: { requests_per_s: 500 } } });
});

test.each([
  [{ requests_per_s: 0 }, 'limits.requests_per_s'],
  [{ concurrent_requests: 1.5 }, 'limits.concurrent_requests'],
  [{ slots: 3 }, 'limits.slots'],
])('%o is refused', async (limits, param) => {
  const refused = await api.post('/api/keys', { name: 'n', scopes: ['read'], limits }, MAKER);
  expect([refused.status, refused.body.error.param]).toEqual([422, param]);
});

test('a key that can make others has none: those would not be limited', async () => {
  const body = { name: 'n', scopes: ['read', 'keys'], limits: { requests_per_s: 5 } };
  const refused = await api.post('/api/keys', body, MAKER);
  expect([refused.status, refused.body.error.param]).toEqual([422, 'limits']);
  // Without any, it is as before.
  expect((await api.post('/api/keys', { ...body, limits: {} }, MAKER)).status).toBe(201);
});

test('requests in a second are those of the key alone', async () => {
  const { key } = await keyWith({ requests_per_s: 1 });
  const second = await keyWith({ requests_per_s: 1 });
  const answers = await Promise.all([1, 2, 3].map(() => api.get('/api/workers', withKey(key))));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  for (const one of refused) expectExceeded(one, 'requests_per_s');
  for (const { headers } of answers) expect(headers['ratelimit-policy']).toBe('"key_requests_per_s";q=1;w=1');
  expect((await api.get('/api/workers', withKey(second.key))).status).toBe(200);
  const others = await api.get('/api/workers', MAKER);
  expect(others.status).toBe(200);
  expect(others.headers).not.toHaveProperty('ratelimit');
});

test('requests at once, of the key and of a session that began with it', async () => {
  const { key } = await keyWith({ concurrent_requests: 1 });
  const made = await api.post('/api/workers', { name: 'w', input: { content: 'hi' } }, MAKER);
  const signedIn = await api.post('/api/session', { key });
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? '';
  const waiting = api.get(`/api/jobs/${made.body.job_id}?wait_ms=60000`, withKey(key));
  const tried = async () => (await api.get('/api/workers', withKey(key))).status;
  await expect.poll(tried, { interval: 20 }).toBe(429);
  const bySession = await api.get('/api/workers', { cookie });
  expectExceeded(bySession, 'concurrent_requests');
  expect(bySession.headers['ratelimit']).toBe('"key_concurrent_requests";r=0');
  expect((await api.get('/api/workers', MAKER)).status).toBe(200);
  await api.post(`/api/jobs/${made.body.job_id}/cancel`, {}, MAKER);
  expect((await waiting).status).toBe(200);
  await expect.poll(tried, { interval: 20 }).toBe(200);
});

test('the tenant is limited beside them', async () => {
  await api.call('PATCH', '/api/tenants/acme', { limits: { requests_per_s: 900 } }, withKey('the-key-of-the-operator'));
  const { key } = await keyWith({ requests_per_s: 500 });
  const policy = async () => (await api.get('/api/workers', withKey(key))).headers['ratelimit-policy'];
  await expect.poll(policy, { interval: 100 }).toBe('"key_requests_per_s";q=500;w=1, "requests_per_s";q=900;w=1');
  await api.call(
    'PATCH',
    '/api/tenants/acme',
    { limits: { requests_per_s: null } },
    withKey('the-key-of-the-operator'),
  );
});
