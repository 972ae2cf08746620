// Tokens of end users: what they give access to, which are refused, and how soon they end.
import { SignJWT, UnsecuredJWT, decodeJwt, decodeProtectedHeader } from 'jose';
import { hkdfSync } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test, onTestFinished, vi } from 'vitest';
import { forgetRevocations } from '../../../src/db/write/tokens.ts';
import { sql } from 'drizzle-orm';
import { until } from '../../e2e/rig/until.ts';
import { isQuery, openApi, type Api, type Body } from '../harness.ts';
import { tagOf } from '../../services/statements.ts';

const SECRET = 'a secret of more than 32 characters'.replaceAll(' ', '-');
const NEW_SECRET = SECRET.toUpperCase();
const KEYS = 'the-key-of-acme:acme,the-key-of-globex:globex,a-key-of-acme-that-reads:acme:keys+read';
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
const ACME = bearer('the-key-of-acme');
const OPERATOR = bearer('the-key-of-the-operator');

const ENVIRONMENT = { NIGHTSHIFT_API_KEYS: KEYS, NIGHTSHIFT_ADMIN_KEY: 'the-key-of-the-operator' };

let api: Api;
/** Another process of the same installation, whose secret was replaced. */
let other: Api;
beforeAll(async () => {
  api = await openApi({ ...ENVIRONMENT, NIGHTSHIFT_SECRET_KEY: SECRET });
  other = await openApi({ ...ENVIRONMENT, NIGHTSHIFT_SECRET_KEY: `${NEW_SECRET},${SECRET}` }, api.databaseUrl);
});
afterAll(async () => {
  await other.close();
  await api.close();
});

const ALL = ['read', 'run', 'approve'];
type Wanted = { scopes?: string[]; context_ids?: string[]; metadata?: object; expires_in_s?: number };

async function tokenOf(user: string, wanted: Wanted = {}, by = ACME, at = api): Promise<string> {
  const made = await at.post('/api/tokens', { user, scopes: ALL, expires_in_s: 600, ...wanted }, by);
  expect(made.status).toBe(201);
  return made.body.token;
}

const statusOf = async (token: string, at = api) => (await at.get('/api/contexts', bearer(token))).status;
const worker = async (by: string, body: object = {}) => api.post('/api/workers', { name: 'w', ...body }, bearer(by));

describe('a token', () => {
  test('is a JWT that names its user, tenant and key, and works in every process', async () => {
    const made = await api.post('/api/tokens', { user: 'alice', scopes: ['read'], expires_in_s: 600 }, ACME);
    expect(made.status).toBe(201);
    expect(made.headers['cache-control']).toBe('no-store');
    const { token, expires_at } = made.body;
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'nightshift+jwt', kid: expect.any(String) });
    const claims = decodeJwt(token);
    expect(claims).toEqual({
      iss: 'nightshift',
      aud: 'nightshift-api',
      sub: 'alice',
      jti: expect.any(String),
      iat: expect.any(Number),
      exp: expect.closeTo((claims.iat ?? 0) + 600, 3),
      tenant: expect.any(Number),
      // Not the id that the log and the database have: with it, guesses of the key could be tested.
      key: expect.stringMatching(/^env:[\w-]{16}$/),
      scope: 'read',
    });
    expect(Date.parse(expires_at)).toBe(Math.round((claims.exp ?? 0) * 1_000));
    expect([await statusOf(token), await statusOf(token, other)]).toEqual([200, 200]);
    expect(JSON.stringify(api.lines)).not.toContain(token);
    expect(api.lines.findLast(({ made_token_id: id }) => id === claims.jti)).toMatchObject({ tenant: 'acme' });
    expect(api.lines.findLast(({ by_token_id: id }) => id === claims.jti)).toMatchObject({ tenant: 'acme' });
  });

  test('sees and makes only what is of its user', async () => {
    const [alice, bob] = [await tokenOf('alice-1'), await tokenOf('bob-1')];
    const mine = await worker(alice, { input: { content: 'x' } });
    expect(mine).toMatchObject({ status: 201, body: { user: 'alice-1' } });
    const forAlice = await api.post('/api/contexts', { title: 't', user: 'alice-1' }, ACME);
    expect(forAlice).toMatchObject({ status: 201, body: { user: 'alice-1' } });
    await api.post('/api/contexts', { title: 'of the tenant' }, ACME);
    const titles = async (token: string) =>
      (await api.get('/api/contexts', bearer(token))).body.data.map(({ title }: Body) => title);
    expect(await titles(alice)).toEqual(['t', null]);
    expect(await titles(bob)).toEqual([]);
    const job = await api.get(`/api/jobs/${mine.body.job_id}`, bearer(alice));
    expect(job).toMatchObject({ status: 200, body: { user: 'alice-1' } });
    expect((await api.get(`/api/jobs/${mine.body.job_id}`, bearer(bob))).status).toBe(404);
    const posted = await api.post(`/api/contexts/${mine.body.context_id}/messages`, { content: 'y' }, bearer(bob));
    expect(posted).toMatchObject({ status: 404, body: { error: { message: expect.stringContaining('No context') } } });
    expect((await worker(bob, { parent_worker_id: mine.body.id })).status).toBe(404);
    const chat = await api.post('/api/chat', { message: 'x', session_id: mine.body.context_id }, bearer(bob));
    expect(chat).toMatchObject({ status: 404, body: { error: { param: 'session_id' } } });
  });

  test('names no other user than its own', async () => {
    const token = await tokenOf('alice');
    const named = [
      worker(token, { user: 'bob' }),
      api.post('/api/chat', { message: 'x', user: 'bob' }, bearer(token)),
      api.post('/api/jobs/cancel', { user: 'bob' }, bearer(token)),
      api.get('/api/contexts?user=bob', bearer(token)),
      api.get('/api/workers?user=bob', bearer(token)),
      api.get('/api/jobs?user=bob', bearer(token)),
      api.get('/api/approvals?user=bob', bearer(token)),
      api.get('/api/search?q=x&user=bob', bearer(token)),
    ];
    for (const { status, body } of await Promise.all(named))
      expect([status, body.error.code, body.error.param]).toEqual([403, 'forbidden', 'user']);
    expect((await worker(token, { user: 'alice' })).status).toBe(201);
    expect((await api.get('/api/contexts?user=alice', bearer(token))).status).toBe(200);
  });

  test('of certain contexts sees those, of any user, and makes none', async () => {
    const named = (await api.post('/api/contexts', { title: 'named', user: 'bob' }, ACME)).body;
    await api.post('/api/contexts', { title: 'other', user: 'carol' }, ACME);
    const token = bearer(await tokenOf('carol', { context_ids: [named.id] }));
    const { body } = await api.get('/api/contexts', token);
    expect(body.data.map(({ title }: Body) => title)).toEqual(['named']);
    const posted = await api.post(`/api/contexts/${named.id}/messages`, { content: 'x' }, token);
    expect(posted.status).toBe(202);
    // The job is of the user who asked, not of the one whose context it is.
    expect((await api.get(`/api/jobs/${posted.body.job_id}`, ACME)).body.user).toBe('carol');
    const more = [
      api.post('/api/workers', { name: 'w' }, token),
      api.post('/api/contexts', { title: 'x' }, token),
      api.post('/api/chat', { message: 'x' }, token),
      api.post(`/api/contexts/${named.id}/fork`, {}, token),
    ];
    for (const { status, body: answer } of await Promise.all(more))
      expect([status, answer.error.message]).toEqual([403, expect.stringContaining('makes no others')]);
    const { body: jobs } = await api.get('/api/jobs', token);
    expect(jobs.data.map(({ id }: Body) => id)).toEqual([posted.body.job_id]);
    const stopped = await api.post('/api/jobs/cancel', { status: 'queued' }, token);
    expect(stopped.body).toEqual({ count: 1 });
  });

  test('of certain contexts does not see those of workers below', async () => {
    const parent = (await worker('the-key-of-acme', { user: 'bob' })).body;
    const child = (await worker('the-key-of-acme', { parent_worker_id: parent.id })).body;
    const tree = async (token: string): Promise<Body[]> => {
      const { body: root } = await api.get(`/api/workers/${parent.id}/tree`, bearer(token));
      return [root.id, ...root.children.map(({ id }: Body) => id)];
    };
    const of = (...contexts: Body[]) => tokenOf('carol', { context_ids: contexts.map(({ context_id: id }) => id) });
    expect(await tree(await of(parent))).toEqual([parent.id]);
    expect(await tree(await of(parent, child))).toEqual([parent.id, child.id]);
    expect(await tree(await tokenOf('bob'))).toEqual([parent.id, child.id]);
    expect((await api.get(`/api/workers/${child.id}/tree`, bearer(await of(parent)))).status).toBe(404);
  });

  test('works in a context of others on behalf of its user alone', async () => {
    const shared = (await api.post('/api/contexts', { user: 'bob' }, ACME)).body;
    const carol = bearer(await tokenOf('carol', { context_ids: [shared.id], metadata: { plan: 'free' } }));
    const path = `/api/contexts/${shared.id}`;
    const theirs = (await api.post(`${path}/messages`, { content: 'of bob' }, ACME)).body;
    const mine = (await api.post(`${path}/messages`, { content: 'of carol' }, carol)).body;
    const edit = (of: Body) => api.call('PATCH', `${path}/messages/${of.message_id}`, { content: 'x' }, carol);
    expect(await edit(theirs)).toMatchObject({ status: 403, body: { error: { param: 'content' } } });
    expect((await edit(mine)).status).toBe(200);
    const compacted = (await api.post(`${path}/compact`, {}, carol)).body;
    for (const { job_id: id } of [mine, compacted]) {
      const { body: job } = await api.get(`/api/jobs/${id}`, ACME);
      expect([job.user, job.metadata]).toEqual(['carol', { plan: 'free' }]);
    }
    const urgent = await api.post(`${path}/messages`, { content: 'x', priority: 4 }, carol);
    expect(urgent).toMatchObject({ status: 403, body: { error: { param: 'priority' } } });
    expect((await api.post(`${path}/messages`, { content: 'x', priority: 6 }, carol)).status).toBe(202);
  });

  test('is no sign-in of a browser, and tells nothing about the tenant', async () => {
    const { body } = await api.get('/api/session', bearer(await tokenOf('alice')));
    expect(body).toEqual({ auth: 'key', signed_in: false, tenant: null, user: null, scopes: [], oidc: null });
  });

  test('gets 404 for an unknown path, and 405 for a method that a path does not have', async () => {
    const token = bearer(await tokenOf('alice'));
    expect((await api.get('/api/nothing', token)).status).toBe(404);
    expect((await api.call('PUT', '/api/workers', {}, token)).status).toBe(405);
  });

  test('may have a user of 500 characters, also of those outside the basic plane', async () => {
    const user = '\u{1F600}'.repeat(500);
    const token = await tokenOf(user);
    expect((await worker(token)).body.user).toBe(user);
    expect((await api.post('/api/tokens', { user: `${user}x`, scopes: ALL, expires_in_s: 1 }, ACME)).status).toBe(422);
  });

  test('does not outlive its key, and says so', async () => {
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const { body: key } = await api.post('/api/keys', { name: 'k', scopes: ['keys', 'read'], expires_at }, ACME);
    const wanted = { user: 'u', scopes: ['read'], expires_in_s: 3_600 };
    expect((await api.post('/api/tokens', wanted, bearer(key.key))).body.expires_at).toBe(expires_at);
  });

  test('adds its metadata to every job, above that of the request', async () => {
    const token = await tokenOf('dave', { metadata: { plan: 'free' } });
    const made = await worker(token, { input: { content: 'x', metadata: { plan: 'gold', n: 1 } } });
    const job = await api.get(`/api/jobs/${made.body.job_id}`, ACME);
    expect(job.body.metadata).toEqual({ plan: 'free', n: 1 });
  });

  test('has the scopes that it names and its key has', async () => {
    const reading = await tokenOf('alice', { scopes: ['read'] });
    const refused = await worker(reading);
    expect(refused).toMatchObject({ status: 403, body: { error: { message: expect.stringContaining('scope run') } } });
    const byReader = await api.post(
      '/api/tokens',
      { user: 'alice', scopes: ['run'], expires_in_s: 60 },
      bearer('a-key-of-acme-that-reads'),
    );
    expect(byReader).toMatchObject({ status: 403, body: { error: { param: 'scopes' } } });
    // What users must not have is refused, whatever the scopes.
    const token = bearer(await tokenOf('alice'));
    for (const path of ['/api/stats', '/api/stats/history', '/api/roles', '/api/system', '/api/keys', '/metrics'])
      expect([path, (await api.get(path, token)).status]).toEqual([path, 403]);
    expect((await api.post('/api/tokens', { user: 'bob', scopes: ALL, expires_in_s: 1 }, token)).status).toBe(403);
    expect((await worker(await tokenOf('alice'), { config: { system_prompt: 'x' } })).status).toBe(403);
  });

  test('of one tenant is nothing in another', async () => {
    const [here, there] = [await tokenOf('alice-2'), await tokenOf('alice-2', {}, bearer('the-key-of-globex'))];
    const { body } = await worker(here);
    expect((await api.get(`/api/workers/${body.id}`, bearer(there))).status).toBe(404);
    expect((await api.get('/api/workers', bearer(there))).body.data).toEqual([]);
  });

  test('has idempotency keys of its user', async () => {
    const key = { 'idempotency-key': 'shared' };
    const send = async (headers: object) =>
      (await api.post('/api/workers', { name: 'w' }, { ...key, ...headers })).body;
    const [alice, again, bob, tenant] = [
      await send(bearer(await tokenOf('alice'))),
      await send(bearer(await tokenOf('alice'))),
      await send(bearer(await tokenOf('bob'))),
      await send(ACME),
    ];
    expect(again.id).toBe(alice.id);
    expect([alice.user, bob.user, tenant.user]).toEqual(['alice', 'bob', null]);
  });

  test('costs one query when it was not seen lately, and one for what it names', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const token = await tokenOf('erin');
    const { body } = await worker(token);
    vi.advanceTimersByTime(600);
    const queries = async (path: string): Promise<(string | null)[]> => {
      api.statements.length = 0;
      expect((await api.get(path, bearer(token))).status).toBe(200);
      return api.statements.filter(isQuery).map(tagOf);
    };
    expect(await queries(`/api/workers/${body.id}`)).toEqual(['tokens.find', 'workers.reach', null]);
    expect(await queries(`/api/workers/${body.id}`)).toEqual(['workers.reach', null]);
  });
});

describe('is refused', () => {
  test.each([
    [{}, null],
    [{ user: 'u', scopes: ['read'] }, 'expires_in_s'],
    [{ user: '', scopes: ['read'], expires_in_s: 1 }, 'user'],
    [{ user: 'u'.repeat(501), scopes: ['read'], expires_in_s: 1 }, 'user'],
    [{ user: 'u', scopes: [], expires_in_s: 1 }, 'scopes'],
    [{ user: 'u', scopes: ['configure'], expires_in_s: 1 }, 'scopes.0'],
    [{ user: 'u', scopes: ['keys'], expires_in_s: 1 }, 'scopes.0'],
    [{ user: 'u', scopes: ['read'], expires_in_s: 0 }, 'expires_in_s'],
    [{ user: 'u', scopes: ['read'], expires_in_s: 86_401 }, 'expires_in_s'],
    [{ user: 'u', scopes: ['read'], expires_in_s: 1, context_ids: [] }, 'context_ids'],
    [{ user: 'u', scopes: ['read'], expires_in_s: 1, metadata: { a: 'x'.repeat(2_100) } }, 'metadata'],
    [{ user: 'u', scopes: ['read'], expires_in_s: 1, tenant: 'globex' }, 'tenant'],
  ])('%j', async (body, param) => {
    const { status, body: answer } = await api.post('/api/tokens', body, ACME);
    expect(status).toBe(422);
    if (param !== null) expect(answer.error.param).toBe(param);
  });

  test('for a context that the tenant does not have', async () => {
    const theirs = (await api.post('/api/contexts', {}, bearer('the-key-of-globex'))).body;
    const wanted = { user: 'u', scopes: ['read'], expires_in_s: 1, context_ids: [theirs.id] };
    const { status, body } = await api.post('/api/tokens', wanted, ACME);
    expect([status, body.error.code, body.error.param]).toEqual([404, 'not_found', 'context_ids']);
  });

  test('without a secret, and without a key', async () => {
    const body = { user: 'u', scopes: ['read'], expires_in_s: 1 };
    const unsigned = await openApi({ NIGHTSHIFT_API_KEYS: KEYS }, api.databaseUrl);
    const refused = await unsigned.post('/api/tokens', body, ACME);
    expect(refused).toMatchObject({ status: 422, body: { error: { code: 'unsupported' } } });
    expect(refused.body.error.message).toContain('NIGHTSHIFT_SECRET_KEY');
    expect(await statusOf(await tokenOf('u'), unsigned)).toBe(401);
    await unsigned.close();
    const keyless = await openApi({ NIGHTSHIFT_SECRET_KEY: SECRET });
    expect(await keyless.post('/api/tokens', body)).toMatchObject({ status: 403 });
    await keyless.close();
  });
});

describe('a forged token is refused', () => {
  const keyOf = (secret: string) => new Uint8Array(hkdfSync('sha256', secret, '', 'nightshift tokens', 32));
  type Change = { header?: object; claims?: object; secret?: Uint8Array };

  /** A token like one of ours, but for the change. */
  async function forged({ header, claims, secret = keyOf(SECRET) }: Change): Promise<string> {
    const like = await tokenOf('alice');
    return new SignJWT({ ...decodeJwt(like), ...claims })
      .setProtectedHeader({ ...decodeProtectedHeader(like), alg: 'HS256', ...header })
      .sign(secret);
  }

  test('but for the change it would be valid', async () => {
    expect(await statusOf(await forged({}))).toBe(200);
  });

  test.each<[string, Change]>([
    ['another secret', { secret: keyOf(`${SECRET}x`) }],
    ['the secret itself', { secret: new TextEncoder().encode(SECRET) }],
    ['another algorithm', { header: { alg: 'HS512' } }],
    ['another type', { header: { typ: 'JWT' } }],
    ['no type', { header: { typ: undefined } }],
    ['an unknown key id', { header: { kid: 'unknown' } }],
    ['no key id', { header: { kid: undefined } }],
    ['another issuer', { claims: { iss: 'elsewhere' } }],
    ['another aud', { claims: { aud: 'elsewhere' } }],
    ['no user', { claims: { sub: undefined } }],
    ['an empty user', { claims: { sub: '' } }],
    ['no id', { claims: { jti: undefined } }],
    ['an end in the past', { claims: { exp: 1 } }],
    ['no end', { claims: { exp: undefined } }],
    ['no begin', { claims: { iat: undefined } }],
    ['no tenant', { claims: { tenant: undefined } }],
    ['a tenant by name', { claims: { tenant: 'acme' } }],
    ['a tenant that does not exist', { claims: { tenant: 42 } }],
    ['a key that does not exist', { claims: { key: 'env:unknown' } }],
    ['a made key that does not exist', { claims: { key: 'made:0199d5a0-0000-7000-8000-000000000000' } }],
    ['a key of another kind', { claims: { key: 'other:x' } }],
    ['contexts that are no ids', { claims: { contexts: ['x'] } }],
    ['contexts that are no list', { claims: { contexts: 'x' } }],
    ['metadata that is no object', { claims: { metadata: [] } }],
    ['scopes that are no text', { claims: { scope: ['read'] } }],
  ])('with %s', async (_, change) => {
    expect(await statusOf(await forged(change))).toBe(401);
  });

  test('without a signature, or with a cut or changed one', async () => {
    const token = await tokenOf('alice');
    const unsecured = new UnsecuredJWT(decodeJwt(token)).encode();
    const [header = '', claims = '', signature = ''] = token.split('.');
    const swapped = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`;
    for (const one of [
      unsecured,
      `${header}.${claims}.`,
      `${header}.${claims}`,
      `${header}.${claims}.${signature.slice(0, -2)}`,
      `${header}.${claims}.${swapped}`,
      `${header}.e30.${signature}`,
    ])
      expect([one.length, await statusOf(one)]).toEqual([one.length, 401]);
  });

  test('with scopes that no token has', async () => {
    const token = await forged({ claims: { scope: 'read configure keys operator' } });
    expect((await api.get('/api/contexts', bearer(token))).status).toBe(200);
    expect((await api.get('/api/keys', bearer(token))).status).toBe(403);
  });
});

test('a replaced secret still verifies, and the new one signs', async () => {
  const [old, fresh] = [await tokenOf('alice'), await tokenOf('alice', {}, ACME, other)];
  expect([await statusOf(old, other), await statusOf(fresh, other)]).toEqual([200, 200]);
  expect(await statusOf(fresh)).toBe(401);
});

describe('a token ends', () => {
  /** How many milliseconds it takes until every process refuses it. */
  async function untilRefused(token: string): Promise<number> {
    const began = performance.now();
    await until('it is refused', async () =>
      (await Promise.all([api, other].map((at) => statusOf(token, at)))).every((status) => status === 401),
    );
    return performance.now() - began;
  }

  test('when those of its user are revoked, within a second; tokens made afterwards are valid', async () => {
    const [alice, bob] = [await tokenOf('alice-3'), await tokenOf('bob-3')];
    expect(await statusOf(alice, other)).toBe(200);
    const revoke = () => api.call('DELETE', '/api/tokens?user=alice-3', undefined, ACME);
    expect((await revoke()).status).toBe(204);
    expect(await untilRefused(alice)).toBeLessThan(1_000);
    expect(await statusOf(bob)).toBe(200);
    const next = await Promise.all(Array.from({ length: 5 }, () => tokenOf('alice-3')));
    for (const token of next) expect(await statusOf(token, other)).toBe(200);
    // Again, and of another tenant: nothing of these.
    await api.call('DELETE', '/api/tokens?user=bob-3', undefined, bearer('the-key-of-globex'));
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await statusOf(bob, other)).toBe(200);
    await revoke();
    for (const token of next) expect(await untilRefused(token)).toBeLessThan(1_000);
    expect((await api.call('DELETE', '/api/tokens', undefined, ACME)).status).toBe(422);
  });

  test('with the key that made it', async () => {
    const { body: key } = await api.post('/api/keys', { name: 'k', scopes: ['keys', 'read'] }, ACME);
    const token = await tokenOf('alice', { scopes: ['read'] }, bearer(key.key));
    const later = await tokenOf('alice', { scopes: ['read'] });
    expect([await statusOf(token), await statusOf(token, other)]).toEqual([200, 200]);
    await api.call('DELETE', `/api/keys/${key.id}`, undefined, ACME);
    expect(await untilRefused(token)).toBeLessThan(1_000);
    expect(await statusOf(later)).toBe(200);
    // One of the environment is removed there.
    const without = await openApi(
      { NIGHTSHIFT_API_KEYS: 'another-key:acme', NIGHTSHIFT_SECRET_KEY: SECRET },
      api.databaseUrl,
    );
    expect(await statusOf(later, without)).toBe(401);
    await without.close();
  });

  test('by itself', async () => {
    const token = await tokenOf('alice', { expires_in_s: 1 });
    expect(await statusOf(token)).toBe(200);
    expect(await untilRefused(token)).toBeLessThan(2_000);
  });

  test('and with it a request whose body is still arriving', async () => {
    const token = await tokenOf('alice-5');
    const payload = new PassThrough();
    const answered = api.app.inject({
      method: 'POST',
      url: '/api/workers',
      headers: { host: 'localhost', 'content-type': 'application/json', ...bearer(token) },
      payload,
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await api.call('DELETE', '/api/tokens?user=alice-5', undefined, ACME);
    await new Promise((resolve) => setTimeout(resolve, 500));
    payload.end(JSON.stringify({ name: 'late' }));
    expect((await answered).statusCode).toBe(401);
    expect((await api.get('/api/workers?user=alice-5', ACME)).body.data).toEqual([]);
  });

  test('and its event streams, in every process; those of others go on', async () => {
    const made = (await api.post('/api/contexts', { user: 'alice-4' }, ACME)).body;
    const [alice, bob] = [await tokenOf('alice-4'), await tokenOf('bob-4', { context_ids: [made.id] })];
    const path = `/api/contexts/${made.id}/events`;
    const open = async (at: Api): Promise<number> =>
      Number(/^nightshift_streams (\d+)$/m.exec((await at.get('/metrics', OPERATOR)).body)?.[1]);
    const [here, there, going] = [
      api.get(path, bearer(alice)),
      other.get(path, bearer(alice)),
      other.get(path, bearer(bob)),
    ];
    await until('all streams to be open', async () => (await open(api)) + (await open(other)) === 3);
    await api.call('DELETE', '/api/tokens?user=alice-4', undefined, ACME);
    const began = performance.now();
    expect([(await here).status, (await there).status]).toEqual([200, 200]);
    expect(performance.now() - began).toBeLessThan(1_000);
    expect(await open(other)).toBe(1);
    // One ends when its time is over.
    const brief = api.get(path, bearer(await tokenOf('alice-4', { expires_in_s: 1 })));
    expect((await brief).status).toBe(200);
    await api.call('DELETE', `/api/contexts/${made.id}`, undefined, ACME);
    await going;
  });

  test('and a session that signed in with the key makes tokens that outlive it', async () => {
    const { headers } = await api.post('/api/session', { key: 'the-key-of-acme' });
    const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
    const page = { cookie, host: 'localhost', origin: 'http://localhost', 'sec-fetch-site': 'same-origin' };
    const made = await api.post('/api/tokens', { user: 'u', scopes: ['read'], expires_in_s: 60 }, page);
    await api.call('DELETE', '/api/session', undefined, page);
    expect(await statusOf(made.body.token, other)).toBe(200);
  });
});

test('old revocations are deleted, and no others', async () => {
  const { db } = api.database;
  const left = async () =>
    (await db.execute<{ user: string }>(sql`select user_name as "user" from token_revocations`)).map(
      ({ user }) => user,
    );
  for (const user of ['old', 'new']) await api.call('DELETE', `/api/tokens?user=${user}`, undefined, ACME);
  await db.execute(
    sql`update token_revocations set revoked_at = revoked_at - interval '49 hours' where user_name = 'old'`,
  );
  expect(await forgetRevocations(db, 10)).toBe(1);
  expect(await left()).toContain('new');
  expect(await left()).not.toContain('old');
});
