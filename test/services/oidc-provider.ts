// A real OpenID provider on the loopback address, with the sign-in form of its development mode: any login and password.
// The groups of a person are in the userinfo response, as OpenID Connect Core 1.0 has it for the code flow.
import { createServer } from 'node:http';
import { SignJWT, decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, type JWTPayload } from 'jose';
import { Provider, type Configuration } from 'oidc-provider';
import { freePort } from '../../src/dev/free-port.ts';

export const CLIENT = { id: 'nightshift', secret: 'a secret of the client, long enough' };

export type TestProvider = {
  issuer: string;
  /** The environment of an API that browsers reach at this address. */
  environment(publicUrl: string): Record<string, string>;
  /** Of each person, by login. */
  groups: Map<string, unknown>;
  /** Changes the ID tokens that it gives, and its answers by their path. */
  tamper: {
    idToken: ((text: string) => string | Promise<string>) | null;
    answers: Map<string, Tampered>;
    /** Does not decode id and secret in the header `Authorization`, as some providers. */
    isHeaderRaw: boolean;
  };
  /** How each request for tokens brought the client secret. */
  clientAuth: ('post' | 'basic')[];
  /** The ID token with other claims, signed again by the provider. */
  resign(idToken: string, claims: JWTPayload): Promise<string>;
  /** The access and ID tokens that it gave. */
  issued: string[];
  close(): Promise<void>;
};

type Tampered = (body: object) => { status?: number; headers?: Record<string, string>; body: unknown };

type Options = { publicUrls: readonly string[]; groupsInIdToken?: boolean };

export async function startOidcProvider({ publicUrls, groupsInIdToken = false }: Options): Promise<TestProvider> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const groups = new Map<string, unknown>();
  const tamper: TestProvider['tamper'] = { idToken: null, answers: new Map(), isHeaderRaw: false };
  const clientAuth: TestProvider['clientAuth'] = [];
  const issued: string[] = [];
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const configuration: Configuration = {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: publicUrls.map((url) => `${url}/api/session/oidc/callback`),
      },
    ],
    claims: { openid: ['sub', 'groups'] },
    cookies: { keys: ['a key of the cookies'] },
    jwks: { keys: [await exportJWK(privateKey)] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: (use) => ({
        sub: id,
        ...(groupsInIdToken || use === 'userinfo' ? { groups: groups.get(id) } : {}),
      }),
    }),
    // The form of its development mode warns at each use.
    features: { devInteractions: { enabled: true } },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
  };
  const provider = new Provider(issuer, configuration);
  // Clients that hang up are no faults of it.
  provider.silent = true;
  provider.use(async (context, next) => {
    const header = context.get('authorization');
    if (context.path === '/token') clientAuth.push(header === '' ? 'post' : 'basic');
    const raw = `Basic ${Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64')}`;
    if (tamper.isHeaderRaw && context.path === '/token' && header !== '' && header !== raw) {
      context.status = 401;
      context.body = { error: 'invalid_client' };
      return;
    }
    await next();
    const { body } = context;
    if (typeof body !== 'object' || body === null) return;
    if ('id_token_signing_alg_values_supported' in body)
      context.body = { ...body, id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'] };
    if ('id_token' in body && 'access_token' in body) {
      const idToken = String(body.id_token);
      const given = tamper.idToken === null ? idToken : await tamper.idToken(idToken);
      issued.push(given, String(body.access_token));
      context.body = { ...body, id_token: given };
    }
    const tampered = tamper.answers.get(context.path)?.(context.body);
    if (tampered === undefined) return;
    context.status = tampered.status ?? 200;
    context.set(tampered.headers ?? {});
    context.body = tampered.body;
  });
  const answer = provider.callback();
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    issuer,
    groups,
    tamper,
    clientAuth,
    issued,
    resign: (idToken, claims) =>
      new SignJWT({ ...decodeJwt(idToken), ...claims })
        .setProtectedHeader({ alg: 'RS256', ...decodeProtectedHeader(idToken) })
        .sign(privateKey),
    environment: (publicUrl) => ({
      NIGHTSHIFT_OIDC_ISSUER: issuer,
      NIGHTSHIFT_OIDC_CLIENT_ID: CLIENT.id,
      NIGHTSHIFT_OIDC_CLIENT_SECRET: CLIENT.secret,
      NIGHTSHIFT_PUBLIC_URL: publicUrl,
    }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Signs a person in at the provider, as a browser does. Returns the address that it sends the browser back to. */
export async function passProvider(authorizationUrl: string, login: string): Promise<string> {
  const { origin } = new URL(authorizationUrl);
  const jar = new Map<string, string>();
  const send = async (address: string, form?: Record<string, string>): Promise<Response> => {
    const response = await fetch(address, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jar.set(name, value);
    }
    return response;
  };
  let response = await send(authorizationUrl);
  for (let steps = 0; steps < 10; steps += 1) {
    const location = response.headers.get('location');
    if (location === null) throw new Error(`The provider answered ${response.status}: ${await response.text()}`);
    const next = new URL(location, origin);
    if (next.origin !== origin) return next.href;
    if (!next.pathname.startsWith('/interaction/')) {
      response = await send(next.href);
      continue;
    }
    const page = await (await send(next.href)).text();
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? '';
    response = await send(next.href, { prompt, login, password: 'any' });
  }
  throw new Error('The provider never sent the browser back.');
}
