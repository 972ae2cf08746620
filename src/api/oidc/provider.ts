/**
 * The OpenID provider as `openid-client` calls it. What it announces is read once an hour. A call ends after a few seconds,
 * so that a provider that does not answer costs no one else anything. ID tokens must be signed with a key that the provider
 * publishes: neither `none` nor an algorithm with the client secret is accepted.
 */
import type { Configuration, IDToken, ServerMetadata } from 'openid-client';
import { groupsIn, userOf, type OidcSettings } from '../../core/access/oidc.ts';
import type { User } from '../../core/access/user.ts';
import { once } from '../../core/once.ts';
import type { OidcClient } from '../../config/oidc.ts';
import { isLoopback } from '../../config/loopback.ts';

/** Loaded for the first sign-in: most processes have none. */
const library = once(() => import('openid-client'));

/** Of one call, in seconds. */
const CALL_S = 3;
/** Calls of one sign-in: announcement, tokens, keys, userinfo. */
export const CALLS_MS = 4 * CALL_S * 1_000;
/** How far the clocks may differ, in seconds. */
const CLOCK_S = 30;
/** How long an announcement counts, in milliseconds. */
const FRESH_MS = 60 * 60 * 1_000;

/** Where the provider sends browsers back to. */
export const CALLBACK = '/api/session/oidc/callback';

/** What is kept of a sign-in while the browser is at the provider. */
export type Checks = { state: string; nonce: string; verifier: string };

export type Identity = { kind: 'identity'; user: User; groups: readonly string[] };

/** `denied`: the provider, or the person, refused. `failed`: the answer is not valid. `detail`: for the log, no secret. */
export type NotIdentified = { kind: 'unavailable' | 'denied' | 'failed'; detail: string };

export type Provider = {
  begin(): Promise<{ kind: 'begun'; url: string; checks: Checks } | NotIdentified>;
  /** `query`: of the callback. */
  identify(query: string, checks: Checks): Promise<Identity | NotIdentified>;
};

export function openProvider(
  client: OidcClient,
  { groupsClaim, scopes }: Pick<OidcSettings, 'groupsClaim' | 'scopes'>,
): Provider {
  const callback = `${client.publicUrl}${CALLBACK}`;
  const scope = [...new Set(['openid', ...scopes])].join(' ');
  const known = announced(client);

  async function claimOf(configuration: Configuration, id: IDToken, accessToken: string): Promise<unknown> {
    const claim = id[groupsClaim];
    if (claim !== undefined || configuration.serverMetadata().userinfo_endpoint === undefined) return claim;
    const { fetchUserInfo } = await library();
    return (await fetchUserInfo(configuration, accessToken, id.sub))[groupsClaim];
  }

  return {
    begin: () =>
      attempt(async () => {
        const { buildAuthorizationUrl, calculatePKCECodeChallenge, ...random } = await library();
        const configuration = await known();
        const checks: Checks = {
          state: random.randomState(),
          nonce: random.randomNonce(),
          verifier: random.randomPKCECodeVerifier(),
        };
        const url = buildAuthorizationUrl(configuration, {
          redirect_uri: callback,
          scope,
          state: checks.state,
          nonce: checks.nonce,
          code_challenge: await calculatePKCECodeChallenge(checks.verifier),
          code_challenge_method: 'S256',
        });
        return { kind: 'begun', url: url.href, checks } as const;
      }),
    identify: (query, { state, nonce, verifier }) =>
      attempt(async () => {
        const { authorizationCodeGrant } = await library();
        const configuration = await known();
        const tokens = await authorizationCodeGrant(configuration, new URL(`${callback}?${query}`), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const id = tokens.claims();
        const user = id === undefined ? null : userOf(client.issuer, id.sub);
        if (id === undefined || user === null) return { kind: 'failed', detail: 'no valid subject' } as const;
        const groups = groupsIn(await claimOf(configuration, id, tokens.access_token));
        return { kind: 'identity', user, groups } as const;
      }),
  };
}

/** If the provider is away after an hour, the last announcement counts. A first one that fails is asked for again. */
function announced(client: OidcClient): () => Promise<Configuration> {
  let last: { configuration: Configuration; until: number } | null = null;
  let asked: Promise<Configuration> | null = null;
  const ask = async (): Promise<Configuration> => {
    try {
      const configuration = await discover(client);
      last = { configuration, until: performance.now() + FRESH_MS };
      return configuration;
    } catch (error) {
      if (last === null) throw error;
      return last.configuration;
    } finally {
      asked = null;
    }
  };
  return async () => {
    if (last !== null && last.until > performance.now()) return last.configuration;
    asked ??= ask();
    return asked;
  };
}

async function discover({ issuer, clientId, clientSecret }: OidcClient): Promise<Configuration> {
  const { Configuration, ClientSecretBasic, ClientSecretPost, ...further } = await library();
  const { allowInsecureRequests, clockTolerance, discovery, enableNonRepudiationChecks } = further;
  const server = new URL(issuer);
  // The configuration refuses http for any other host.
  const isLocal = server.protocol === 'http:' && isLoopback(server.hostname);
  const execute = isLocal ? [allowInsecureRequests] : [];
  const found = await discovery(server, clientId, clientSecret, undefined, { timeout: CALL_S, execute });
  const metadata = withSafeAlgorithms(found.serverMetadata());
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authentication = methods.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost;
  const own = { client_secret: clientSecret, [clockTolerance]: CLOCK_S };
  const configuration = new Configuration(metadata, clientId, own, authentication(clientSecret));
  configuration.timeout = CALL_S;
  if (isLocal) allowInsecureRequests(configuration);
  enableNonRepudiationChecks(configuration);
  return configuration;
}

/** Every provider supports RS256. Without the field, the library accepts only that. */
function withSafeAlgorithms(metadata: Readonly<ServerMetadata>): ServerMetadata {
  const announcedAlgorithms = metadata.id_token_signing_alg_values_supported ?? ['RS256'];
  const safe = announcedAlgorithms.filter((algorithm) => /^(?:RS|PS|ES)\d{3}$|^Ed(?:DSA|25519)$/.test(algorithm));
  return { ...metadata, id_token_signing_alg_values_supported: safe };
}

/** Failures of the library as values. Its errors may contain tokens: only their codes are kept. */
async function attempt<Result>(work: () => Promise<Result>): Promise<Result | NotIdentified> {
  const { AuthorizationResponseError, ClientError, ResponseBodyError, WWWAuthenticateChallengeError } = await library();
  try {
    return await work();
  } catch (error) {
    if (error instanceof AuthorizationResponseError)
      return { kind: ANSWERS.get(error.error) ?? 'failed', detail: codeIn(error.error) };
    if (error instanceof ResponseBodyError)
      return { kind: error.status >= 500 ? 'unavailable' : 'failed', detail: codeIn(error.error) };
    if (error instanceof WWWAuthenticateChallengeError) return { kind: 'failed', detail: error.code };
    // `fetch` throws it, with a cause, if it gets no answer.
    if (error instanceof TypeError && error.cause instanceof Error) return { kind: 'unavailable', detail: 'no answer' };
    if (!(error instanceof ClientError) || error.code === undefined) throw error;
    return { kind: UNREACHED.has(error.code) ? 'unavailable' : 'failed', detail: error.code };
  }
}

/** It did not answer in time, or something else did. */
const UNREACHED: ReadonlySet<string> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
]);

/** RFC 6749, section 4.1.2.1. */
const ANSWERS: ReadonlyMap<string, NotIdentified['kind']> = new Map([
  ['access_denied', 'denied'],
  ['server_error', 'unavailable'],
  ['temporarily_unavailable', 'unavailable'],
]);

/** The provider, or a link, chose the text. */
function codeIn(error: string): string {
  return /^[a-z_]{1,50}$/.test(error) ? error : 'unknown error';
}
