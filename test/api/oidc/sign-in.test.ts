// Sign-in with OpenID Connect against a real provider: who gets in, as whom and with which scopes, and what is refused.
import { createHmac } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { sql } from 'drizzle-orm';
import type { JWTPayload } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { OidcSettings } from '../../../src/core/access/oidc.ts';
import { SCOPES } from '../../../src/core/access/scopes.ts';
import type { User } from '../../../src/core/access/user.ts';
import { endSessionsOf } from '../../../src/db/write/sessions.ts';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import { lockUser, revokeTokens } from '../../../src/db/write/tokens.ts';
import { freePort } from '../../../src/dev/free-port.ts';
import { until } from '../../e2e/rig/until.ts';
import { CLIENT, passProvider, startOidcProvider, type TestProvider } from '../../services/oidc-provider.ts';
import { withLogins } from '../../services/logins.ts';
import { openApi, type Api, type Answer } from '../harness.ts';

const PUBLIC_URL = 'http://localhost:4000';
const TLS_URL = 'https://console.example';
const ADMIN_KEY = 'the-key-of-the-operator';
const OPERATOR = { authorization: `Bearer ${ADMIN_KEY}` };
/** Of the browser, to the address that NIGHTSHIFT_PUBLIC_URL names. */
const HOST = new URL(PUBLIC_URL).host;
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
  clientAuth: null,
  name: 'Example Login',
};

const PEOPLE = {
  vera: ['readers', 'unknown'],
  nina: ['readers'],
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
  provider.tamper.answers.clear();
  provider.tamper.isHeaderRaw = false;
  vi.useRealTimers();
});

function open(env: Record<string, string>, settings = SETTINGS, databaseUrl?: string): Promise<Api> {
  const whole = { NIGHTSHIFT_ADMIN_KEY: ADMIN_KEY, ...env };
  return openApi(whole, databaseUrl, undefined, undefined, null, undefined, undefined, settings);
}

type Navigation = { status: number; location: string; cookies: string[] };

let addresses = 0;
/** One that nothing has come from yet, so that no limit counts. */
function newAddress(): string {
  addresses += 1;
  return `192.0.2.${addresses}`;
}

/** As a browser that follows a link of another site, unless the headers say more. */
async function navigate(
  path: string,
  cookie = '',
  to = api,
  headers: Record<string, string> = {},
  address = newAddress(),
): Promise<Navigation> {
  const answer = await to.app.inject({
    url: path,
    headers: { host: HOST, 'sec-fetch-site': 'cross-site', cookie, ...headers },
    remoteAddress: address,
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

/** From a page of the console. */
const SAME = { 'sec-fetch-site': 'same-origin' };

async function begin(query = '', to = api, headers: Record<string, string> = SAME): Promise<Begun> {
  const answer = await navigate(`/api/session/oidc${query}`, '', to, headers);
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

/** Of an API with a memory of its own. */
async function withFresh<Result>(
  work: (fresh: Api) => Promise<Result>,
  more: Record<string, string> = {},
  settings: Partial<OidcSettings> = {},
): Promise<Result> {
  const env = { ...provider.environment(PUBLIC_URL), ...more };
  const fresh = await open(env, { ...SETTINGS, ...settings }, api.databaseUrl);
  try {
    return await work(fresh);
  } finally {
    await fresh.close();
  }
}

const ONE = '198.51.100.1';

const FAILED = 'a sign-in with OpenID Connect failed';

/** Why sign-ins failed, as the log tells. */
function reasons({ lines } = api): unknown[] {
  return lines.filter(({ msg }) => msg === FAILED).map(({ error, reason }) => `${String(error)} ${String(reason)}`);
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
      expect.stringMatching(/^nightshift_sign_in_[\w-]{8}=; Max-Age=0; Path=\/; .*HttpOnly; SameSite=Lax$/),
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
      const host = { host: new URL(TLS_URL).host };
      const begun = await navigate('/api/session/oidc', '', tls, { ...host, ...SAME });
      expect(begun.cookies[0]).toMatch(
        /^__Host-nightshift_sign_in_[\w-]{8}=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      );
      const { cookies } = await navigate(await wayBack(begun.location, 'vera'), sent(begun), tls, host);
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
    '/api/session/oidc?return_to=/api/session/oidc',
    '/jobs/../api/session/oidc',
    `/${'é'.repeat(900)}`,
    `/${'a'.repeat(4_000)}`,
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

  test('by a link of another site leads to the page, where the person signs in', async () => {
    const old = await sessionOf('mia');
    const followed = await navigate('/api/session/oidc?tenant=globex&return_to=/jobs', old.cookie);
    expect(followed).toEqual({ status: 302, location: `${PUBLIC_URL}/jobs`, cookies: [] });
    const elsewhere = { host: '127.0.0.1:4000' };
    const { location } = await navigate('/api/session/oidc?redirected=1&return_to=//evil.example', '', api, elsewhere);
    expect(location).toBe(`${PUBLIC_URL}/`);
    expect((await api.get('/api/session', old)).body.signed_in).toBe(true);
  });

  test.each(['same-origin', 'same-site', 'none'])('begins from %s', async (site) => {
    const { location } = await navigate('/api/session/oidc', '', api, { 'sec-fetch-site': site });
    expect(new URL(location).origin).toBe(provider.issuer);
  });

  test('goes on in two tabs, whatever is answered to another one', async () => {
    const one = await begin();
    const two = await navigate('/api/session/oidc?return_to=/jobs', one.cookie, api, SAME);
    const cookie = `${one.cookie}; ${sent(two)}`;
    const strange = await navigate(`/api/session/oidc/callback?code=a&state=${'a'.repeat(43)}`, cookie);
    expect(strange).toMatchObject({ location: '/?error=sign_in_expired', cookies: [] });
    const [near = ''] = new URL(one.url).searchParams.getAll('state');
    const almost = await navigate(`/api/session/oidc/callback?code=a&state=${near.slice(0, 20)}`, cookie);
    expect(almost).toMatchObject({ location: '/?error=sign_in_expired', cookies: [] });
    const first = await navigate(await wayBack(one.url, 'nina'), cookie);
    expect(first.location).toBe('/');
    expect(first.cookies.filter((text) => text.includes('Max-Age=0'))).toEqual([
      expect.stringMatching(`^${one.cookie.split('=')[0]}=;`),
    ]);
    expect((await navigate(await wayBack(two.location, 'nina'), sent(two))).location).toBe('/jobs');
  });

  test('keeps the cookies of three sign-ins', async () => {
    let cookie = '';
    const begun: Navigation[] = [];
    for (let tabs = 0; tabs < 4; tabs += 1) {
      const answer = await navigate('/api/session/oidc', cookie, api, SAME);
      begun.push(answer);
      cookie = [cookie, sent(answer)].filter((text) => text !== '').join('; ');
    }
    const removed = begun.map(({ cookies }) => cookies.filter((text) => text.includes('Max-Age=0')).length);
    expect(removed).toEqual([0, 0, 0, 1]);
    const [oldest] = begun;
    expect(begun[3]?.cookies[0]).toMatch(`${oldest?.cookies[0]?.split('=')[0]}=;`);
  });

  test('enters the first active tenant, unless another one is asked for', async () => {
    const setStatus = (status: string) => api.call('PATCH', '/api/tenants/acme', { status }, OPERATOR);
    await sessionOf('nina');
    expect((await setStatus('suspended')).status).toBe(200);
    try {
      expect((await api.get('/api/session', await sessionOf('ada'))).body.tenant).toBe('globex');
      expect((await signIn('ada', '?tenant=acme')).location).toBe('/?error=tenant_inactive');
      expect((await signIn('nina')).location).toBe('/?error=tenant_inactive');
    } finally {
      await setStatus('active');
    }
    expect((await api.get('/api/session', await sessionOf('ada'))).body.tenant).toBe('acme');
  });

  const announcement = '/.well-known/openid-configuration';
  test('lets the person choose another account, if asked to', async () => {
    const promptOf = async (query: string, to = api): Promise<string | null> =>
      new URL((await begin(query, to)).url).searchParams.get('prompt');
    expect(await promptOf('')).toBeNull();
    expect(await promptOf('?choose=1')).toBe('login');
    expect((await signIn('nina', '?choose=1')).location).toBe('/');
    expect((await navigate('/api/session/oidc?choose=2', '', api, SAME)).status).toBe(422);
    const moved = await navigate('/api/session/oidc?choose=1', '', api, { host: '127.0.0.1:4000', ...SAME });
    expect(moved.location).toBe(`${PUBLIC_URL}/api/session/oidc?choose=1&redirected=1`);
    for (const [values, prompt] of [
      [['none', 'login', 'consent'], 'login'],
      [['login', 'select_account'], 'select_account'],
      ['select_account', 'login'],
    ] as const) {
      provider.tamper.answers.set(announcement, (body) => ({ body: { ...body, prompt_values_supported: values } }));
      await withFresh(async (fresh) => expect(await promptOf('?choose=1', fresh)).toBe(prompt));
    }
  });

  test('asks for the scope profile, if the provider announces it', async () => {
    const scopes_supported = ['openid', 'profile', 'email'];
    provider.tamper.answers.set(announcement, (body) => ({ body: { ...body, scopes_supported } }));
    for (const scopes of [['groups'], ['groups', 'profile']])
      await withFresh(
        async (fresh) => {
          const { url } = await begin('', fresh);
          expect(new URL(url).searchParams.get('scope')?.split(' ').toSorted()).toEqual([
            'groups',
            'openid',
            'profile',
          ]);
        },
        {},
        { scopes },
      );
  });

  test.each<[string, string[] | undefined, OidcSettings['clientAuth'], 'post' | 'basic']>([
    ['both', ['client_secret_basic', 'client_secret_post'], null, 'post'],
    ['the body', ['client_secret_post'], null, 'post'],
    ['the header', ['client_secret_basic'], null, 'basic'],
    ['nothing', undefined, null, 'basic'],
    ['both', ['client_secret_basic', 'client_secret_post'], 'basic', 'basic'],
    ['the header', ['client_secret_basic'], 'post', 'post'],
  ])('with a provider that takes the client secret in %s, %j, with the setting %j in %s', async (...given) => {
    const [, methods, clientAuth, expected] = given;
    provider.tamper.answers.set(announcement, (body) => ({
      body: { ...body, token_endpoint_auth_methods_supported: methods },
    }));
    await withFresh(
      async (fresh) => {
        expect((await signIn('vera', '', fresh)).location).toBe('/');
        expect(provider.clientAuth.at(-1)).toBe(expected);
      },
      {},
      { clientAuth },
    );
  });

  test('does not send the client secret in the header to a provider that does not decode it there', async () => {
    provider.tamper.isHeaderRaw = true;
    await withFresh(async (fresh) => expect((await signIn('vera', '', fresh)).location).toBe('/'));
    await withFresh(
      async (fresh) => expect((await signIn('vera', '', fresh)).location).toBe('/?error=sign_in_failed'),
      {},
      { clientAuth: 'basic' },
    );
  });

  test('ends the session that this browser had', async () => {
    const old = await sessionOf('mia');
    const begun = await navigate('/api/session/oidc', old.cookie, api, SAME);
    // Browsers do not send a strict cookie on the way back.
    const next = sent(await navigate(await wayBack(begun.location, 'vera'), sent(begun)));
    expect((await api.get('/api/workers', old)).status).toBe(401);
    expect((await api.get('/api/workers', { cookie: next })).status).toBe(200);
    const [entry] = await api.database.db.execute<{ target: string }>(sql`
      select target from audit_entries where action = 'session.ended' order by id desc limit 1`);
    expect(entry?.target).toBe(userNamed('mia'));
  });

  test('ends a session of the operator, and is none; neither becomes the other', async () => {
    const entered = async (): Promise<{ cookie: string }> => {
      const { headers } = await api.app.inject({
        method: 'POST',
        url: '/api/session',
        headers: { host: HOST, ...OWN },
        payload: { key: ADMIN_KEY },
      });
      return { cookie: String(headers['set-cookie']).split(';')[0] ?? '' };
    };
    const operator = await entered();
    expect((await api.get('/api/tenants', operator)).status).toBe(200);
    const begun = await navigate('/api/session/oidc', operator.cookie, api, SAME);
    const user = { cookie: sent(await navigate(await wayBack(begun.location, 'ada'), sent(begun))) };
    expect((await api.get('/api/tenants', operator)).status).toBe(401);
    expect((await api.get('/api/tenants', user)).status).toBe(403);
    const [ended] = await api.database.db.execute<{ entry: object }>(sql`
      select jsonb_build_object('tenant', tenant_id, 'kind', actor_kind, 'target', target) as entry
      from audit_entries where action = 'session.ended' order by id desc limit 1`);
    expect(ended?.entry).toEqual({ tenant: null, kind: 'operator', target: 'operator' });
    const again = await entered();
    expect((await api.get('/api/session', again)).body).toMatchObject({
      tenant: null,
      user: null,
      scopes: ['operator'],
    });
    expect((await api.get('/api/workers', again)).status).toBe(403);
    expect((await api.get('/api/session', user)).body).toMatchObject({ tenant: 'acme', user: userNamed('ada') });
  });

  test('begins at the public URL, once', async () => {
    const elsewhere = { host: '127.0.0.1:4000', ...SAME };
    const { location, cookies } = await navigate('/api/session/oidc?return_to=/jobs', '', api, elsewhere);
    expect(location).toBe(`${PUBLIC_URL}/api/session/oidc?return_to=%2Fjobs&redirected=1`);
    expect(cookies).toEqual([]);
    // A proxy may hide the public host.
    const { pathname, search } = new URL(location);
    const begun = await navigate(pathname + search, '', api, elsewhere);
    expect(new URL(begun.location).origin).toBe(provider.issuer);
  });

  test('is not ended by HEAD', async () => {
    const { url, cookie } = await begin();
    const back = await wayBack(url, 'vera');
    const head = await api.app.inject({ method: 'HEAD', url: back, headers: { host: HOST, cookie } });
    expect(`${head.statusCode} ${head.headers.allow}`).toBe('405 GET');
    expect((await navigate(back, cookie)).location).toBe('/');
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
    const spelled = [['OWNERS', ' owners', 'owners '], 'owners,authors', [['owners']], ['owner\u0073\u0301'], true, ''];
    for (const groups of [...spelled, ['unknown'], [], [7, null, { owners: true }], { owners: true }, undefined]) {
      provider.groups.set('guest', groups);
      expect(await failed('guest', await begin())).toBe('/?error=no_access');
    }
    expect(reasons().slice(-2)).toEqual(['no_access no_grant', 'no_access no_claim']);
  });

  test('with another state, or that of another browser', async () => {
    const one = await begin();
    expect(await failed('ada', { ...one, url: changed(one.url, 'state') })).toBe('/?error=sign_in_expired');
    const other = await begin();
    expect(await failed('ada', { url: one.url, cookie: other.cookie })).toBe('/?error=sign_in_expired');
    expect(await failed('ada', { url: other.url, cookie: '' })).toBe('/?error=sign_in_expired');
    expect(await failed('ada', { url: one.url, cookie: `${one.cookie.split('=')[0]}=eyJ.a..b.c` })).toBe(
      '/?error=sign_in_expired',
    );
  });

  test('and keeps the page that was asked for', async () => {
    const begun = await begin(`?return_to=${encodeURIComponent('/jobs?status=running#top')}`);
    expect(await failed('guest', begun)).toBe('/jobs?status=running&error=no_access#top');
    expect(await failed('guest', await begin('?return_to=/jobs'))).toBe('/jobs?error=no_access');
  });

  test('without a cookie, at a level that the log usually leaves out', async () => {
    await withFresh(async (fresh) => {
      const path = `/api/session/oidc/callback?code=a&state=${'a'.repeat(43)}`;
      for (const cookie of ['', 'nightshift_sign_in_aaaaaaaa=eyJ.a..b.c']) await navigate(path, cookie, fresh);
      const found = fresh.lines.filter(({ msg }) => msg === FAILED);
      expect(found.map(({ level, error, reason }) => [level, error, reason])).toEqual([
        [20, 'sign_in_expired', 'no cookie'],
        [30, 'sign_in_expired', 'cookie'],
      ]);
    });
  });

  test('where the provider says that it left the groups out', async () => {
    provider.tamper.answers.set('/me', (body) => ({ body: { ...body, groups: undefined } }));
    provider.tamper.idToken = (text) => provider.resign(text, { _claim_names: { groups: 'src1' } });
    expect(await failed('ada', await begin())).toBe('/?error=no_access');
    expect(reasons().at(-1)).toBe('no_access too_many_groups');
  });

  test('while PostgreSQL is away: the page says so', async () => {
    const { hostname, port } = new URL(api.databaseUrl);
    const sockets = new Set<Socket>();
    const between = createServer((socket) => {
      const onward = connect(Number(port), hostname);
      for (const [from, to] of [[socket, onward] as const, [onward, socket] as const]) {
        sockets.add(from);
        from.on('error', () => to.destroy()).on('close', () => to.destroy());
        from.pipe(to);
      }
    });
    await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
    const address = between.address();
    const own = new URL(api.databaseUrl);
    own.host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
    const cut = (): void => {
      between.close();
      for (const socket of sockets) socket.destroy();
    };
    const later = await open(provider.environment(PUBLIC_URL), SETTINGS, own.href);
    try {
      const { url, cookie } = await begin('?return_to=/jobs', later);
      const back = await wayBack(url, 'vera');
      provider.tamper.idToken = (text) => {
        cut();
        return text;
      };
      const answer = await navigate(back, cookie, later);
      expect(answer.location).toBe('/jobs?error=unavailable');
      expect(answer.cookies.join()).not.toContain('nightshift_session');
      expect(reasons(later)).toEqual([expect.stringContaining('unavailable The database does not answer')]);
    } finally {
      cut();
      await later.app.close();
      await later.database.close(0);
    }
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
  const past = Math.floor(Date.now() / 1_000) - 3_600;
  test('only with what is wrong: an ID token that is signed again is valid', async () => {
    provider.tamper.idToken = (text) => provider.resign(text, {});
    expect((await signIn('vera')).location).toBe('/');
  });
  test.each<[string, (text: string) => string | Promise<string>, string]>([
    ['for another client', (text) => provider.resign(text, { aud: 'another' }), 'aud'],
    ['of another issuer', (text) => provider.resign(text, { iss: 'https://other.example' }), 'iss'],
    ['of the issuer with a / at its end', (text) => provider.resign(text, { iss: `${provider.issuer}/` }), 'iss'],
    ['for several clients, without azp', (text) => provider.resign(text, { aud: [CLIENT.id, 'another'] }), 'aud'],
    [
      'for several clients, of another one',
      (text) => provider.resign(text, { aud: [CLIENT.id, 'another'], azp: 'another' }),
      'azp',
    ],
    ['that has expired', (text) => provider.resign(text, { iat: past, exp: past + 60 }), 'exp'],
    [
      'that was changed',
      (text) => {
        const [header, , signature] = text.split('.');
        return [header, encode({ ...payloadOf(text), sub: 'ada' }), signature].join('.');
      },
      '',
    ],
    ['without a signature', (text) => `${encode({ alg: 'none' })}.${encode(payloadOf(text))}.`, ''],
    [
      'signed with the secret of the client',
      (text) => {
        const signed = `${encode({ alg: 'HS256' })}.${encode(payloadOf(text))}`;
        return `${signed}.${createHmac('sha256', CLIENT.secret).update(signed).digest('base64url')}`;
      },
      '',
    ],
  ])('with an ID token %s', async (_, tamper, claim) => {
    provider.tamper.idToken = tamper;
    expect((await signIn('vera')).location).toBe('/?error=sign_in_failed');
    expect(reasons().at(-1)).toMatch(new RegExp(`^sign_in_failed OAUTH_\\w+ ?${claim}$`));
  });

  test.each<[string, JWTPayload, string]>([
    ['azp of another client', { azp: 'another' }, 'azp of another client'],
    ['azp that is no text', { azp: [CLIENT.id] }, 'azp of another client'],
    ['a subject that is too long', { sub: 's'.repeat(256) }, 'no valid subject'],
  ])('with an ID token with %s', async (_, claims, reason) => {
    provider.tamper.idToken = (text) => provider.resign(text, claims);
    expect((await signIn('vera')).location).toBe('/?error=sign_in_failed');
    expect(reasons().at(-1)).toBe(`sign_in_failed ${reason}`);
  });

  test('without a grant, and the log does not take more than a part of the groups', async () => {
    provider.groups.set(
      'guest',
      Array.from({ length: 100 }, (_, index) => `${index} ${'g'.repeat(1_000)}`),
    );
    expect(await failed('guest', await begin())).toBe('/?error=no_access');
    const line = api.lines.findLast(({ msg }) => msg === FAILED);
    expect(line?.groups).toHaveLength(50);
    expect(JSON.stringify(line).length).toBeLessThan(15_000);
  });

  const announcement = '/.well-known/openid-configuration';
  /** More than a megabyte. */
  const long = { more: 'x'.repeat(1_100_000) };
  test.each<
    [string, string, (body: object) => { status?: number; headers?: Record<string, string>; body: unknown }, string]
  >([
    [
      'announces no page for sign-in',
      announcement,
      (body) => ({ body: { ...body, authorization_endpoint: undefined } }),
      'sign_in_failed',
    ],
    [
      'announces another issuer',
      announcement,
      (body) => ({ body: { ...body, issuer: 'https://other.example' } }),
      'sign_in_failed the provider announces the issuer "https://other.example"',
    ],
    ['announces too much', announcement, (body) => ({ body: { ...body, ...long } }), 'sign_in_failed answer too long'],
    ['gives too much', '/token', (body) => ({ body: { ...body, ...long } }), 'sign_in_failed answer too long'],
    ['has too many keys', '/jwks', (body) => ({ body: { ...body, ...long } }), 'sign_in_failed answer too long'],
    ['tells too much', '/me', (body) => ({ body: { ...body, ...long } }), 'sign_in_failed answer too long'],
    ['publishes no keys', '/jwks', () => ({ body: { keys: 'none' } }), 'sign_in_failed'],
    [
      'publishes keys that are malformed',
      '/jwks',
      () => ({ body: { keys: [{ kty: 'RSA', use: 'sig', n: '?' }] } }),
      'sign_in_failed',
    ],
    [
      'refuses its own access token',
      '/me',
      () => ({ status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' }, body: {} }),
      'sign_in_failed invalid_token',
    ],
    [
      'does not end an answer',
      '/token',
      () => ({ headers: { 'content-type': 'application/json' }, body: new PassThrough() }),
      'provider_unavailable timeout',
    ],
  ])('with a provider that %s', async (_, path, tampered, reason) => {
    provider.tamper.answers.set(path, tampered);
    await withFresh(async (fresh) => {
      const begun = await navigate('/api/session/oidc', '', fresh, SAME);
      const location = begun.location.startsWith('/')
        ? begun.location
        : (await navigate(await wayBack(begun.location, 'vera'), sent(begun), fresh)).location;
      expect(location).toBe(`/?error=${reason.split(' ')[0]}`);
      expect(reasons(fresh)).toEqual([expect.stringContaining(reason)]);
    });
  });

  const guess = async (to: Api): Promise<{ path: string; cookie: string }> => {
    const { url, cookie } = await begin('', to);
    const state = new URL(url).searchParams.get('state');
    const iss = encodeURIComponent(provider.issuer);
    return { path: `/api/session/oidc/callback?code=guessed&state=${state}&iss=${iss}`, cookie };
  };
  const counted = (locations: readonly string[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const location of locations) counts[location] = (counts[location] ?? 0) + 1;
    return counts;
  };

  test('after ten wrong codes in a minute, also if they come at once', async () => {
    await withFresh(async (fresh) => {
      const { path, cookie } = await guess(fresh);
      const answers = await Promise.all(Array.from({ length: 15 }, () => navigate(path, cookie, fresh, {}, ONE)));
      expect(counted(answers.map(({ location }) => location))).toEqual({
        '/?error=sign_in_failed': 10,
        '/?error=rate_limited': 5,
      });
    });
  });

  test('with another client secret: this counts, because the answer is not valid', async () => {
    await withFresh(
      async (fresh) => {
        const { path, cookie } = await guess(fresh);
        const locations = [];
        for (let tries = 0; tries < 12; tries += 1)
          locations.push((await navigate(path, cookie, fresh, {}, ONE)).location);
        expect(counted(locations)).toEqual({ '/?error=sign_in_failed': 10, '/?error=rate_limited': 2 });
        expect(new Set(reasons(fresh))).toEqual(new Set(['sign_in_failed invalid_client', 'rate_limited undefined']));
      },
      { NIGHTSHIFT_OIDC_CLIENT_SECRET: 'another secret, long enough' },
    );
  });

  test('where the person refuses, which counts as no wrong code', async () => {
    await withFresh(async (fresh) => {
      const { path, cookie } = await guess(fresh);
      const refusing = path.replace('code=guessed', 'error=access_denied');
      for (let tries = 0; tries < 12; tries += 1)
        expect((await navigate(refusing, cookie, fresh, {}, ONE)).location).toBe('/?error=sign_in_denied');
    });
  });

  test('beyond ten that one address tries at once; those that were refused are not counted', async () => {
    await withFresh(async (fresh) => {
      const callbacks = await Promise.all(
        Array.from({ length: 30 }, async () => {
          const { url, cookie } = await begin('', fresh);
          return { back: await wayBack(url, 'vera'), cookie };
        }),
      );
      let waiting = 0;
      const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
      provider.tamper.idToken = async (text) => {
        waiting += 1;
        await isReleased;
        return text;
      };
      const asked = Promise.all(
        callbacks.map(async ({ back, cookie }) => (await navigate(back, cookie, fresh, {}, ONE)).location),
      );
      await until('ten to be tried', async () => waiting === 10);
      release();
      const locations = await asked;
      expect(counted(locations)).toEqual({ '/': 10, '/?error=rate_limited': 20 });
      const refused = callbacks.filter((_, index) => locations[index] !== '/');
      for (const { back, cookie } of refused.slice(0, 5))
        expect((await navigate(back, cookie, fresh, {}, ONE)).location).toBe('/');
    });
  });

  test('after sixty that an address began in a minute', async () => {
    await withFresh(async (fresh) => {
      const locations = [];
      for (let begun = 0; begun < 61; begun += 1)
        locations.push((await navigate('/api/session/oidc', '', fresh, SAME, ONE)).location);
      expect(locations.filter((location) => location === '/?error=rate_limited')).toHaveLength(1);
    });
  });

  test('while twenty others ask the provider', async () => {
    provider.tamper.answers.set('/token', () => ({
      headers: { 'content-type': 'application/json' },
      body: new PassThrough(),
    }));
    await withFresh(async (fresh) => {
      const { path, cookie } = await guess(fresh);
      const answers = await Promise.all(Array.from({ length: 21 }, () => navigate(path, cookie, fresh)));
      const { '/?error=rate_limited': busy } = counted(answers.map(({ location }) => location));
      expect(busy).toBe(1);
    });
  });

  test('while the provider is down', async () => {
    const issuer = `http://127.0.0.1:${await freePort()}`;
    await withFresh(
      async (fresh) => {
        expect((await navigate('/api/session/oidc', '', fresh, SAME)).location).toBe('/?error=provider_unavailable');
        expect(reasons(fresh)).toEqual(['provider_unavailable ECONNREFUSED']);
      },
      { NIGHTSHIFT_OIDC_ISSUER: issuer },
    );
  });

  test('while the provider does not answer; nothing else waits for it, and it is not called again at once', async () => {
    let calls = 0;
    const silent = createServer((socket) => {
      // Requests, not connections: `fetch` opens another one after a request that was cancelled, and sends nothing there.
      socket.on('data', () => {
        calls += 1;
      });
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await withFresh(
      async (fresh) => {
        const order: string[] = [];
        const one = async (): Promise<void> => {
          order.push((await navigate('/api/session/oidc', '', fresh, SAME)).location);
        };
        const waiting = Promise.all([one(), one()]);
        await until('the provider to be called', async () => calls > 0);
        order.push(String((await fresh.get('/api/session')).status));
        await waiting;
        await one();
        const unavailable = '/?error=provider_unavailable';
        expect(order).toEqual(['200', unavailable, unavailable, unavailable]);
        expect(calls).toBe(1);
      },
      { NIGHTSHIFT_OIDC_ISSUER: `http://127.0.0.1:${port}` },
    );
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
    const ofAda = await api.post(path, { content: 'b' }, { ...OWN, ...(await sessionOf('ada')) });
    const edited = await api.call('PATCH', `${path}/${ofAda.body.message_id}`, { content: 'c' }, cookie);
    expect(edited.body.error.code).toBe('forbidden');
    const own = await api.call('PATCH', `${path}/${posted.body.message_id}`, { content: 'c' }, cookie);
    expect(own.status).toBe(200);
    // It reads what all users have.
    expect((await api.get('/api/contexts?user=another', cookie)).body.data).toEqual([]);
    expect((await api.get(`/api/contexts/${made.body.id}`, await sessionOf('vera'))).status).toBe(200);
  });

  test('retries the job of another user on behalf of that user', async () => {
    const ada = { ...OWN, ...(await sessionOf('ada')) };
    const { body: context } = await api.post('/api/contexts', {}, ada);
    const { body: failed } = await api.post(`/api/contexts/${context.id}/messages`, { content: 'a' }, ada);
    await api.database.db.execute(sql`update messages set status = 'completed', seq = 1, turn = '1'
      where id = ${failed.message_id}`);
    await api.database.db.execute(sql`update jobs set status = 'failed', error = '{"code": "internal", "message": "x"}',
      started_at = now(), finished_at = now(), first_seq = 0, last_seq = 2 where id = ${failed.job_id}`);
    const mia = { ...OWN, ...(await sessionOf('mia')) };
    const { body } = await api.post('/api/jobs/retry', { ids: [failed.job_id] }, mia);
    const retried = await api.get(`/api/jobs/${body.data[0].retry_job_id}`, mia);
    expect(retried.body).toMatchObject({ kind: 'retry', user: userNamed('ada') });
    expect(await record('job.retried')).toMatchObject({
      kind: 'session',
      user: userNamed('mia'),
      target: failed.job_id,
    });
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

  test('begins, is replaced and ends where row security limits the login of the API', async () => {
    const limited = await openApi(
      { NIGHTSHIFT_ADMIN_KEY: ADMIN_KEY, ...provider.environment(PUBLIC_URL) },
      undefined,
      undefined,
      undefined,
      null,
      undefined,
      async (url) => (await withLogins(url)).api,
      SETTINGS,
    );
    try {
      const mia = { ...OWN, ...(await sessionOf('mia', '', limited)) };
      expect((await limited.post('/api/contexts', {}, mia)).status).toBe(201);
      const begun = await navigate('/api/session/oidc?tenant=globex', mia.cookie, limited, SAME);
      const ada = { cookie: sent(await navigate(await wayBack(begun.location, 'ada'), sent(begun), limited)), ...OWN };
      expect((await limited.get('/api/session', ada)).body).toMatchObject({ tenant: 'globex', user: userNamed('ada') });
      expect((await limited.get('/api/contexts', ada)).body.data).toEqual([]);
      expect((await limited.get('/api/workers', mia)).status).toBe(401);
      const owner = { ...OWN, ...(await sessionOf('ada', '', limited)) };
      const user = encodeURIComponent(userNamed('ada'));
      expect((await limited.call('DELETE', `/api/tokens?user=${user}`, undefined, owner)).status).toBe(204);
      await until('the session to end', async () => (await limited.get('/api/workers', owner)).status === 401);
      // Only those in the tenant of the admin.
      expect((await limited.get('/api/workers', ada)).status).toBe(200);
      expect((await limited.call('DELETE', '/api/session', undefined, ada)).status).toBe(204);
      expect((await limited.get('/api/workers', ada)).status).toBe(401);
    } finally {
      await limited.close();
    }
  });

  test('has what people call the user in the audit log when it starts, and nowhere else', async () => {
    const detailOf = async (claims: object): Promise<object | undefined> => {
      provider.tamper.answers.set('/me', (body) => ({ body: { ...body, ...claims } }));
      expect((await signIn('nina')).location).toBe('/');
      const [entry] = await api.database.db.execute<{ detail: object }>(sql`
        select detail from audit_entries where action = 'session.started' order by id desc limit 1`);
      return entry?.detail;
    };
    const address = expect.stringMatching(/^192\.0\.2\./);
    expect(await detailOf({})).toEqual({ address });
    expect(await detailOf({ email: 'nina@example.com', name: 'Nina' })).toEqual({ address, name: 'nina@example.com' });
    provider.tamper.idToken = (text) => provider.resign(text, { preferred_username: 'nickname' });
    expect(await detailOf({ preferred_username: 'owners' })).toEqual({ address, name: 'nickname' });
    const { body } = await api.get('/api/session', await sessionOf('nina'));
    expect(body).toMatchObject({ user: userNamed('nina'), scopes: ['read'] });
    expect(JSON.stringify(body)).not.toContain('nickname');
  });

  test('of an admin makes keys, so the admin key makes no first key of the tenant', async () => {
    const first = (tenant: string, to = api) =>
      to.post('/api/keys', { name: 'first', scopes: ['keys', 'read'], tenant }, OPERATOR);
    const refused = await first('acme');
    expect(refused.body.error).toMatchObject({
      code: 'forbidden',
      param: 'tenant',
      message: expect.stringContaining('people signed in with OpenID Connect'),
    });
    expect((await first('globex')).status).toBe(201);
    // Without the provider, no one can sign in.
    const without = await open({}, SETTINGS);
    try {
      expect((await first('acme', without)).status).toBe(201);
    } finally {
      await without.close();
    }
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

  test('ends with its streams when the tokens of its user are revoked', async () => {
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
      await until('the session to end', async () => (await other.get('/api/workers', cookie)).status === 401);
      await stream;
      expect((await api.get('/api/workers', admin)).status).toBe(200);
    } finally {
      await other.close();
    }
  });

  test('does not begin if they were revoked while the provider was asked', async () => {
    const admin = { ...OWN, ...(await sessionOf('ada')) };
    const path = `/api/tokens?user=${encodeURIComponent(userNamed('mia'))}`;
    provider.tamper.idToken = async (text) => {
      const { status } = await api.call('DELETE', path, undefined, admin);
      return status === 204 ? text : '';
    };
    const { location, cookies } = await signIn('mia');
    expect(location).toBe('/?error=sign_in_expired');
    expect(cookies.join()).not.toContain('nightshift_session');
    expect(reasons().at(-1)).toBe('sign_in_expired revoked');
    provider.tamper.idToken = null;
    expect((await signIn('mia')).location).toBe('/');
  });

  /** Whether a statement waits for a lock. */
  const waits = async (text: string): Promise<boolean> => {
    const rows = await api.database.db.execute(sql`
      select 1 from pg_stat_activity a
      where a.datname = current_database() and a.wait_event_type = 'Lock' and a.query like ${`%${text}%`}`);
    return rows.length > 0;
  };

  test('does not begin if a revocation that began before is committed later', async () => {
    const tenantId = await ensureTenant(api.database.db, 'acme');
    const user = userNamed('mia') as User;
    const isAsked = Promise.withResolvers<void>();
    const isRevoked = Promise.withResolvers<void>();
    provider.tamper.idToken = async (text) => {
      isAsked.resolve();
      await isRevoked.promise;
      return text;
    };
    const entered = signIn('mia');
    await isAsked.promise;
    await api.database.everywhere.transaction(async (tx) => {
      await lockUser(tx, tenantId, user);
      await endSessionsOf(tx, tenantId, user);
      await revokeTokens(tx, tenantId, user);
      isRevoked.resolve();
      await until('the sign-in to wait', () => waits('tokens.lock_user'));
    });
    expect((await entered).location).toBe('/?error=sign_in_expired');
  });

  test('is ended by a revocation that begins before it is committed', async () => {
    const admin = { ...OWN, ...(await sessionOf('ada')) };
    const { url, cookie } = await begin();
    const back = await wayBack(url, 'mia');
    const pending = await api.database.everywhere.transaction(async (tx) => {
      // The entry of the sign-in is the last that its transaction writes.
      await tx.execute(sql`lock table audit_entries in share mode`);
      const entered = navigate(back, cookie);
      await until('the sign-in to wait', () => waits('insert into audit_entries'));
      const path = `/api/tokens?user=${encodeURIComponent(userNamed('mia'))}`;
      const revoked = api.call('DELETE', path, undefined, admin);
      await until('the revocation to wait', () => waits('tokens.lock_user'));
      return { entered, revoked };
    });
    const session = { cookie: sent(await pending.entered) };
    expect((await pending.revoked).status).toBe(204);
    expect(session.cookie).toContain('nightshift_session=');
    await until('the session to end', async () => (await api.get('/api/workers', session)).status === 401);
  });

  test('is not ended by the issuer alone, as an unescaped # leaves it', async () => {
    const admin = { ...OWN, ...(await sessionOf('ada')) };
    for (const user of [provider.issuer, `${provider.issuer}#`]) {
      const path = `/api/tokens?user=${encodeURIComponent(user)}`;
      const { status, body } = await api.call('DELETE', path, undefined, admin);
      expect(`${status} ${body.error?.param}`).toBe('422 user');
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
    expect(reasons().at(-1)).toBe('no_access deleted_tenant');
    // Such a grant lets no one make keys.
    const first = { name: 'first', scopes: ['keys'], tenant: 'initech' };
    expect((await api.post('/api/keys', first, OPERATOR)).status).toBe(201);
    const moved = await startOidcProvider({ publicUrls: [PUBLIC_URL] });
    const later = await open(moved.environment(PUBLIC_URL), SETTINGS, api.databaseUrl);
    try {
      moved.groups.set('lee', ['leavers']);
      expect((await signIn('lee', '', later)).location).toBe('/?error=no_access');
      expect(reasons(later)).toEqual(['no_access deleted_tenant']);
    } finally {
      await later.close();
      await moved.close();
    }
  });

  test('leaves no secret, code or token in the log, not even where it fails', async () => {
    const codes: (string | null)[] = [];
    const attempt = async (location: string): Promise<string> => {
      const { url, cookie } = await begin();
      const back = await wayBack(url, 'vera');
      const { searchParams } = new URL(back, PUBLIC_URL);
      codes.push(searchParams.get('code'), searchParams.get('state'));
      const answer = await navigate(back, cookie);
      expect(answer.location).toBe(location);
      return sent(answer);
    };
    const session = await attempt('/');
    provider.tamper.idToken = (text) => provider.resign(text, { aud: 'another' });
    await attempt('/?error=sign_in_failed');
    provider.tamper.idToken = null;
    const status = { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } };
    provider.tamper.answers.set('/me', () => ({ ...status, body: {} }));
    await attempt('/?error=sign_in_failed');
    const secrets = [CLIENT.secret, session.split('=').at(-1), ...codes, ...provider.issued.slice(-6)];
    expect(secrets).toHaveLength(14);
    const log = JSON.stringify(api.lines);
    for (const secret of secrets) {
      expect(secret).toBeTruthy();
      expect(log).not.toContain(secret);
    }
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
