// Sign-in with OpenID Connect against a real provider: who gets in, as whom and with which scopes, and what is refused.
import { createHmac } from 'node:crypto';
import { createServer } from 'node:net';
import { sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { OidcSettings } from '../../../src/core/access/oidc.ts';
import { SCOPES } from '../../../src/core/access/scopes.ts';
import { freePort } from '../../../src/dev/free-port.ts';
import { until } from '../../e2e/rig/until.ts';
import { CLIENT, passProvider, startOidcProvider, type TestProvider } from '../../services/oidc-provider.ts';
import { openApi, type Api, type Answer } from '../harness.ts';

const PUBLIC_URL = 'http://localhost:4000';
const TLS_URL = 'https://console.example';
const ADMIN_KEY = 'the-key-of-the-operator';
const OPERATOR = { authorization: `Bearer ${ADMIN_KEY}` };
const OWN = { origin: 'http://localhost', 'sec-fetch-site': 'same-origin' };

const SETTINGS: OidcSettings = {
  grants: [
    { group: 'readers', tenant: 'acme', role: 'viewer' },
    { group: 'authors', tenant: 'acme', role: 'member' },
    { group: 'owners', tenant: 'acme', role: 'admin' },
    { group: 'owners', tenant: 'globex', role: 'viewer' },
    { group: 'leavers', tenant: 'initech', role: 'admin' },
  ],
  groupsClaim: 'groups',
  scopes: [],
  name: 'Example Login',
};

const PEOPLE = {
  vera: ['readers', 'unknown'],
  mia: ['readers', 'authors'],
  ada: ['owners'],
  solo: 'authors',
  guest: ['unknown'],
  lee: ['leavers'],
};

let provider: TestProvider;
let api: Api;
beforeAll(async () => {
  provider = await startOidcProvider({ publicUrls: [PUBLIC_URL, TLS_URL] });
  for (const [login, groups] of Object.entries(PEOPLE)) provider.groups.set(login, groups);
  api = await open(provider.environment(PUBLIC_URL));
});
afterAll(async () => {
  await api?.close();
  await provider?.close();
});
afterEach(() => {
  provider.tamper.idToken = null;
  vi.useRealTimers();
});

function open(env: Record<string, string>, settings = SETTINGS, databaseUrl?: string): Promise<Api> {
  const whole = { NIGHTSHIFT_ADMIN_KEY: ADMIN_KEY, ...env };
  return openApi(whole, databaseUrl, undefined, undefined, null, undefined, undefined, settings);
}

type Navigation = { status: number; location: string; cookies: string[] };

/** As a browser that follows a link of another site. */
async function navigate(path: string, cookie = '', to = api): Promise<Navigation> {
  const answer = await to.app.inject({
    url: path,
    headers: { host: 'localhost', 'sec-fetch-site': 'cross-site', cookie },
  });
  const cookies = [answer.headers['set-cookie'] ?? []].flat();
  return { status: answer.statusCode, location: String(answer.headers.location), cookies };
}

/** What a browser sends of the cookies that it received. */
function sent({ cookies }: Navigation): string {
  return cookies
    .filter((text) => !text.includes('Max-Age=0'))
    .map((text) => text.split(';')[0])
    .join('; ');
}

type Begun = { url: string; cookie: string };

async function begin(query = '', to = api): Promise<Begun> {
  const answer = await navigate(`/api/session/oidc${query}`, '', to);
  expect(answer.status).toBe(302);
  return { url: answer.location, cookie: sent(answer) };
}

/** The path that the provider sends the browser back to. */
async function wayBack(url: string, login: string): Promise<string> {
  const { pathname, search } = new URL(await passProvider(url, login));
  return pathname + search;
}

async function signIn(login: string, query = '', to = api): Promise<Navigation> {
  const { url, cookie } = await begin(query, to);
  return navigate(await wayBack(url, login), cookie, to);
}

async function sessionOf(login: string, query = '', to = api): Promise<{ cookie: string }> {
  const answer = await signIn(login, query, to);
  expect(answer.location).toBe('/');
  return { cookie: sent(answer) };
}

const userNamed = (login: string): string => `${provider.issuer}#${login}`;

describe('signing in', () => {
  test.each([
    ['vera', 'acme', ['read']],
    ['mia', 'acme', ['read', 'run']],
    ['solo', 'acme', ['read', 'run']],
    ['ada', 'acme', [...SCOPES]],
  ])('%s enters %s with %j', async (login, tenant, scopes) => {
    const cookie = await sessionOf(login);
    expect((await api.get('/api/session', cookie)).body).toEqual({
      auth: 'key',
      signed_in: true,
      tenant,
      user: userNamed(login),
      scopes,
      oidc: { name: 'Example Login' },
    });
    expect((await api.get('/metrics', cookie)).status).toBe(403);
    expect((await api.get('/api/tenants', cookie)).status).toBe(403);
  });

  test('sets a strict cookie for eight hours, and ends the one of the sign-in', async () => {
    const { cookies, location } = await signIn('vera', '?return_to=/jobs?status=running');
    expect(location).toBe('/jobs?status=running');
    expect(cookies).toEqual([
      expect.stringMatching(/^nightshift_sign_in=; Max-Age=0; Path=\/; .*HttpOnly; SameSite=Lax$/),
      expect.stringMatching(/^nightshift_session=[\w-]{43}; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
    const [row] = await api.database.db.execute<{ hours: number }>(sql`
      select extract(epoch from max(expires_at - created_at))::float8 / 3600 as hours from sessions
      where user_name is not null`);
    expect(row?.hours).toBeCloseTo(8, 2);
  });

  test('over TLS sets cookies for TLS alone, whatever the proxy reports', async () => {
    const tls = await open(provider.environment(TLS_URL), SETTINGS, api.databaseUrl);
    try {
      const begun = await navigate('/api/session/oidc', '', tls);
      expect(begun.cookies[0]).toMatch(/^__Host-nightshift_sign_in=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
      const { cookies } = await navigate(await wayBack(begun.location, 'vera'), sent(begun), tls);
      expect(cookies[1]).toMatch(/^__Host-nightshift_session=.*; HttpOnly; Secure; SameSite=Strict$/);
    } finally {
      await tls.close();
    }
  });

  test('asks with state, nonce and PKCE, and for nothing more than needed', async () => {
    const { url } = await begin();
    const asked = Object.fromEntries(new URL(url).searchParams);
    expect(asked).toMatchObject({
      client_id: CLIENT.id,
      redirect_uri: `${PUBLIC_URL}/api/session/oidc/callback`,
      response_type: 'code',
      scope: 'openid',
      code_challenge_method: 'S256',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(asked[name]).toMatch(/^[\w-]{43}$/);
    const other = new URL((await begin()).url).searchParams;
    for (const name of ['state', 'nonce', 'code_challenge']) expect(other.get(name)).not.toBe(asked[name]);
  });

  test.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example/',
    '/..//evil.example',
    'javascript:alert(1)',
    `/${'é'.repeat(900)}`,
    '',
  ])('returns to no other page than one of the console: %j', async (path) => {
    const { location } = await signIn('vera', `?return_to=${encodeURIComponent(path)}`);
    expect(location).toBe('/');
  });

  test('enters the tenant that is asked for, if a grant is for it', async () => {
    const { body } = await api.get('/api/session', await sessionOf('ada', '?tenant=globex'));
    expect(body).toMatchObject({ tenant: 'globex', scopes: ['read'] });
    expect((await signIn('vera', '?tenant=globex')).location).toBe('/?error=no_access');
  });

  test('reads groups of the ID token, if the provider puts them there', async () => {
    const other = await startOidcProvider({ publicUrls: [PUBLIC_URL], groupsInIdToken: true });
    const own = await open(other.environment(PUBLIC_URL), SETTINGS, api.databaseUrl);
    try {
      other.groups.set('mia', ['authors']);
      const { body } = await own.get('/api/session', await sessionOf('mia', '', own));
      expect(body).toMatchObject({ user: `${other.issuer}#mia`, scopes: ['read', 'run'] });
    } finally {
      await own.close();
      await other.close();
    }
  });
});

describe('no sign-in', () => {
  const failed = async (login: string, { url, cookie }: Begun): Promise<string> => {
    const answer = await navigate(await wayBack(url, login), cookie);
    expect(answer.status).toBe(302);
    expect(answer.cookies.join()).not.toContain('nightshift_session');
    return answer.location;
  };
  const changed = (url: string, name: string): string => {
    const other = new URL(url);
    other.searchParams.set(name, 'a'.repeat(43));
    return other.href;
  };

  test('without a grant', async () => {
    for (const groups of [['unknown'], [], [7, null, { owners: true }], { owners: true }, undefined]) {
      provider.groups.set('guest', groups);
      expect(await failed('guest', await begin())).toBe('/?error=no_access');
    }
  });

  test('with another state, or that of another browser', async () => {
    const one = await begin();
    expect(await failed('ada', { ...one, url: changed(one.url, 'state') })).toBe('/?error=sign_in_expired');
    const other = await begin();
    expect(await failed('ada', { url: one.url, cookie: other.cookie })).toBe('/?error=sign_in_expired');
    expect(await failed('ada', { url: other.url, cookie: '' })).toBe('/?error=sign_in_expired');
    expect(await failed('ada', { url: one.url, cookie: 'nightshift_sign_in=eyJ.a..b.c' })).toBe(
      '/?error=sign_in_expired',
    );
  });

  test('with a cookie of another installation', async () => {
    const environment = {
      ...provider.environment(PUBLIC_URL),
      NIGHTSHIFT_OIDC_CLIENT_SECRET: 'another secret, long enough',
    };
    const other = await open(environment, SETTINGS, api.databaseUrl);
    try {
      expect(await failed('ada', await begin('', other))).toBe('/?error=sign_in_expired');
    } finally {
      await other.close();
    }
  });

  test('with another nonce, or another verifier', async () => {
    for (const name of ['nonce', 'code_challenge']) {
      const { url, cookie } = await begin();
      expect(await failed('ada', { url: changed(url, name), cookie })).toBe('/?error=sign_in_failed');
    }
  });

  test('with a code that was used', async () => {
    const { url, cookie } = await begin();
    const back = await wayBack(url, 'vera');
    expect((await navigate(back, cookie)).location).toBe('/');
    expect((await navigate(back, cookie)).location).toBe('/?error=sign_in_failed');
  });

  test('after ten minutes at the provider', async () => {
    const { url, cookie } = await begin();
    const back = await wayBack(url, 'ada');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11 * 60_000 });
    expect((await navigate(back, cookie)).location).toBe('/?error=sign_in_expired');
  });

  test('where the person refuses', async () => {
    const { url, cookie } = await begin();
    const state = new URL(url).searchParams.get('state') ?? '';
    const iss = encodeURIComponent(provider.issuer);
    const answer = `/api/session/oidc/callback?error=access_denied&error_description=<b>text</b>&state=${state}&iss=${iss}`;
    expect((await navigate(answer, cookie)).location).toBe('/?error=sign_in_denied');
  });

  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const payloadOf = (text: string): object =>
    JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString()) as object;
  test.each<[string, (text: string) => string]>([
    [
      'that was changed',
      (text) => {
        const [header, , signature] = text.split('.');
        return [header, encode({ ...payloadOf(text), sub: 'ada' }), signature].join('.');
      },
    ],
    ['without a signature', (text) => `${encode({ alg: 'none' })}.${encode(payloadOf(text))}.`],
    [
      'signed with the secret of the client',
      (text) => {
        const signed = `${encode({ alg: 'HS256' })}.${encode(payloadOf(text))}`;
        return `${signed}.${createHmac('sha256', CLIENT.secret).update(signed).digest('base64url')}`;
      },
    ],
  ])('with an ID token %s', async (_, tamper) => {
    const fresh = await open(provider.environment(PUBLIC_URL), SETTINGS, api.databaseUrl);
    try {
      provider.tamper.idToken = tamper;
      const { url, cookie } = await begin('', fresh);
      const answer = await navigate(await wayBack(url, 'vera'), cookie, fresh);
      expect(answer.location).toBe('/?error=sign_in_failed');
    } finally {
      await fresh.close();
    }
  });

  test('after ten answers in a minute that are not valid', async () => {
    const fresh = await open(provider.environment(PUBLIC_URL), SETTINGS, api.databaseUrl);
    try {
      const { url, cookie } = await begin('', fresh);
      const { searchParams } = new URL(url);
      const iss = encodeURIComponent(provider.issuer);
      const back = `/api/session/oidc/callback?code=guessed&state=${searchParams.get('state')}&iss=${iss}`;
      const answers = [];
      for (let tries = 0; tries < 11; tries += 1) answers.push((await navigate(back, cookie, fresh)).location);
      expect(answers).toEqual([...Array.from({ length: 10 }, () => '/?error=sign_in_failed'), '/?error=rate_limited']);
    } finally {
      await fresh.close();
    }
  });

  test('while the provider is down, or does not answer; nothing else waits for it', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    for (const [issuer, mostMs] of [
      [`http://127.0.0.1:${await freePort()}`, 3_000],
      [`http://127.0.0.1:${port}`, 8_000],
    ] as const) {
      const own = await open(
        { ...provider.environment(PUBLIC_URL), NIGHTSHIFT_OIDC_ISSUER: issuer },
        SETTINGS,
        api.databaseUrl,
      );
      const start = performance.now();
      const answers = Promise.all([navigate('/api/session/oidc', '', own), navigate('/api/session/oidc', '', own)]);
      expect((await own.get('/api/session')).status).toBe(200);
      for (const { location } of await answers) expect(location).toBe('/?error=provider_unavailable');
      expect(performance.now() - start).toBeLessThan(mostMs);
      await own.close();
    }
    silent.close();
  });

  test('while the provider is down on the way back', async () => {
    const other = await startOidcProvider({ publicUrls: [PUBLIC_URL] });
    const own = await open(other.environment(PUBLIC_URL), SETTINGS, api.databaseUrl);
    try {
      const { url, cookie } = await begin('', own);
      const back = await wayBack(url, 'mia');
      await other.close();
      expect((await navigate(back, cookie, own)).location).toBe('/?error=provider_unavailable');
    } finally {
      await own.close();
    }
  });

  test('where it is not set up', async () => {
    const without = await openApi({ NIGHTSHIFT_API_KEYS: 'the-only-key:acme' }, api.databaseUrl);
    try {
      for (const path of ['/api/session/oidc', '/api/session/oidc/callback'])
        expect((await without.app.inject({ url: path })).json().error.code).toBe('unsupported');
    } finally {
      await without.close();
    }
  });
});

describe('the session of a user', () => {
  const record = async (action: string): Promise<object | undefined> => {
    const [entry] = await api.database.db.execute<{ entry: object }>(sql`
      select jsonb_build_object('kind', actor_kind, 'id', actor_id, 'user', user_name, 'target', target) as entry
      from audit_entries where action = ${action} order by id desc limit 1`);
    return entry?.entry;
  };

  test('acts for this user and no other', async () => {
    const cookie = { ...OWN, ...(await sessionOf('mia')) };
    const made = await api.post('/api/contexts', {}, cookie);
    expect(made.body).toMatchObject({ user: userNamed('mia') });
    const path = `/api/contexts/${made.body.id}/messages`;
    const posted = await api.post(path, { content: 'a' }, cookie);
    expect((await api.get(`/api/jobs/${posted.body.job_id}`, cookie)).body.user).toBe(userNamed('mia'));
    for (const [to, body] of [
      [path, { content: 'a', user: 'another' }],
      ['/api/contexts', { user: 'another' }],
      ['/api/chat', { message: 'a', user: 'another' }],
    ] as const) {
      const { status, body: problem } = await api.post(to, body, cookie);
      expect(`${to} ${status} ${problem.error?.param}`).toBe(`${to} 403 user`);
    }
    expect((await api.post(path, { content: 'a', user: userNamed('mia') }, cookie)).status).toBe(202);
    // It reads what all users have.
    expect((await api.get('/api/contexts?user=another', cookie)).body.data).toEqual([]);
    expect((await api.get(`/api/contexts/${made.body.id}`, await sessionOf('vera'))).status).toBe(200);
  });

  test('lacks the scopes that its role lacks', async () => {
    const viewer = { ...OWN, ...(await sessionOf('vera')) };
    expect((await api.post('/api/contexts', {}, viewer)).status).toBe(403);
    const member = { ...OWN, ...(await sessionOf('mia')) };
    const { body } = await api.post('/api/contexts', {}, member);
    const judged = await api.post(`/api/contexts/${body.id}/tools/approve`, {}, member);
    expect(judged.body.error).toMatchObject({ code: 'forbidden', message: expect.stringContaining('approve') });
    const key = { name: 'k', scopes: ['read'] };
    expect((await api.post('/api/keys', key, member)).body.error.code).toBe('forbidden');
    const admin = { ...OWN, ...(await sessionOf('ada')) };
    expect((await api.post('/api/keys', key, admin)).status).toBe(201);
    expect(await record('key.created')).toMatchObject({ kind: 'session', id: null, user: userNamed('ada') });
    const token = { user: 'alice', scopes: ['read'], expires_in_s: 60 };
    expect((await api.post('/api/tokens', token, admin)).body.error.message).toMatch(/Make a key/);
  });

  test('is audited from its start to its end, and refused after it', async () => {
    const cookie = { ...OWN, ...(await sessionOf('vera')) };
    const entry = { kind: 'session', id: null, user: userNamed('vera'), target: userNamed('vera') };
    expect(await record('session.started')).toEqual(entry);
    const { status } = await api.call('DELETE', '/api/session', undefined, cookie);
    expect(status).toBe(204);
    expect(await record('session.ended')).toEqual(entry);
    expect((await api.get('/api/workers', cookie)).status).toBe(401);
  });

  test('ends within a second, with its streams, when the tokens of its user are revoked', async () => {
    const cookie = { ...OWN, ...(await sessionOf('mia')) };
    const admin = { ...OWN, ...(await sessionOf('ada')) };
    const other = await open(provider.environment(PUBLIC_URL), SETTINGS, api.databaseUrl);
    try {
      const { body } = await other.post('/api/contexts', {}, cookie);
      const stream = other.get(`/api/contexts/${body.id}/events`, cookie);
      await until('the stream to be open', async () =>
        /^nightshift_streams 1$/m.test((await other.get('/metrics', OPERATOR)).body),
      );
      const user = encodeURIComponent(userNamed('mia'));
      const revoked = await api.call('DELETE', `/api/tokens?user=${user}`, undefined, admin);
      expect(revoked.status).toBe(204);
      const start = performance.now();
      await until('the session to end', async () => (await other.get('/api/workers', cookie)).status === 401);
      await stream;
      expect(performance.now() - start).toBeLessThan(2_000);
      expect((await api.get('/api/workers', admin)).status).toBe(200);
    } finally {
      await other.close();
    }
  });

  test('follows the grants of the config file, as they are after a restart', async () => {
    const cookie = await sessionOf('mia');
    const withGrants = async (
      grants: OidcSettings['grants'],
      env = provider.environment(PUBLIC_URL),
    ): Promise<Answer> => {
      const later = await open(env, { ...SETTINGS, grants }, api.databaseUrl);
      try {
        return await later.get('/api/session', cookie);
      } finally {
        await later.close();
      }
    };
    const authors = { group: 'authors', tenant: 'acme', role: 'admin' } as const;
    expect((await withGrants([authors])).body.scopes).toEqual([...SCOPES]);
    expect((await withGrants([{ ...authors, group: 'readers', role: 'viewer' }])).body.scopes).toEqual(['read']);
    for (const answer of [
      await withGrants([]),
      await withGrants([{ ...authors, tenant: 'globex' }]),
      await withGrants([authors], {}),
      await withGrants([authors], {
        ...provider.environment(PUBLIC_URL),
        NIGHTSHIFT_OIDC_ISSUER: 'https://other.example',
      }),
    ])
      expect(answer.body).toMatchObject({ signed_in: false, user: null });
  });

  test('ends with its tenant, whose name gives no access to a later one', async () => {
    const cookie = await sessionOf('lee');
    const patched = await api.call('PATCH', '/api/tenants/initech', { status: 'suspended' }, OPERATOR);
    expect(patched.status).toBe(200);
    expect((await signIn('lee')).location).toBe('/?error=tenant_inactive');
    expect((await api.call('DELETE', '/api/tenants/initech', undefined, OPERATOR)).status).toBe(202);
    await until('the session to end', async () => (await api.get('/api/workers', cookie)).status === 401);
    // As a worker process leaves it.
    await api.database.db.execute(sql`
      with gone as (delete from tenants where name = 'initech' returning deletion)
      insert into audit_entries (id, tenant_id, actor_kind, action, target, detail)
      select gen_random_uuid(), null, 'operator', 'tenant.deleted', 'initech', jsonb_build_object('keys', deletion->'keys')
      from gone`);
    expect((await api.post('/api/tenants', { name: 'initech' }, OPERATOR)).status).toBe(201);
    expect((await signIn('lee')).location).toBe('/?error=no_access');
  });

  test('leaves no secret, code or token in the log', async () => {
    const { url, cookie } = await begin();
    const back = await wayBack(url, 'vera');
    const session = sent(await navigate(back, cookie));
    const { searchParams } = new URL(back, PUBLIC_URL);
    const log = JSON.stringify(api.lines);
    for (const secret of [
      CLIENT.secret,
      searchParams.get('code'),
      searchParams.get('state'),
      session.split('=').at(-1),
    ])
      expect(log).not.toContain(secret);
  });
});

describe('an API without keys, but with OpenID Connect', () => {
  test('needs a sign-in, and serves other hosts', async () => {
    const own = await openApi(provider.environment(PUBLIC_URL), api.databaseUrl);
    try {
      expect((await own.get('/api/workers', { host: 'console.example' })).status).toBe(401);
      expect((await own.get('/api/session')).body).toMatchObject({
        auth: 'key',
        signed_in: false,
        oidc: { name: new URL(provider.issuer).host },
      });
      expect((await own.get('/metrics')).status).toBe(401);
    } finally {
      await own.close();
    }
  });
});
