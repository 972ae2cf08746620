/**
 * The OpenID provider as `openid-client` calls it. A call ends after a few seconds, and few run at once, so that a
 * provider that does not answer costs no one else anything.
 */
import type { Configuration, IDToken } from 'openid-client';
import { groupsIn, userOf, type OidcSettings } from '../../core/access/oidc.ts';
import type { User } from '../../core/access/user.ts';
import type { OidcClient } from '../../config/oidc.ts';
import { CALL_S, announcementOf } from './announcement.ts';
import { failureOf, type Failure } from './failure.ts';
import { library } from './library.ts';

/** Calls of one sign-in: announcement, tokens, keys, userinfo. */
export const CALLS_MS = 4 * CALL_S * 1_000;
/** Sign-ins that may ask the provider at once. More are refused. */
const MOST_AT_ONCE = 20;

/** Where the provider sends browsers back to. */
export const CALLBACK = '/api/session/oidc/callback';

/** What is kept of a sign-in while the browser is at the provider. */
export type Checks = { state: string; nonce: string; verifier: string };

/** `groups`: null: the provider sent no such claim. */
export type Identity = { kind: 'identity'; user: User; groups: readonly string[] | null };

type Begun = { kind: 'begun'; url: string; checks: Checks };

export type Provider = {
  begin(): Promise<Begun | Failure>;
  /** `query`: of the callback. */
  identify(query: string, checks: Checks): Promise<Identity | Failure>;
};

export function openProvider(
  client: OidcClient,
  { groupsClaim, scopes }: Pick<OidcSettings, 'groupsClaim' | 'scopes'>,
): Provider {
  const callback = `${client.publicUrl}${CALLBACK}`;
  const scope = [...new Set(['openid', ...scopes])].join(' ');
  const announcement = announcementOf(client);
  let running = 0;

  /** All errors of the library are failures: what it gets comes from the provider and the browser. */
  async function attempt<Result>(
    work: (configuration: Configuration) => Promise<Result | Failure>,
  ): Promise<Result | Failure> {
    const announced = await announcement();
    if (announced.kind !== 'announced') return announced;
    try {
      return await work(announced.configuration);
    } catch (error) {
      return failureOf(error);
    }
  }

  async function claimOf(configuration: Configuration, id: IDToken, accessToken: string): Promise<unknown> {
    const claim = id[groupsClaim];
    if (claim !== undefined || configuration.serverMetadata().userinfo_endpoint === undefined) return claim;
    const { fetchUserInfo } = await library();
    return (await fetchUserInfo(configuration, accessToken, id.sub))[groupsClaim];
  }

  async function identify(
    configuration: Configuration,
    query: string,
    { state, nonce, verifier }: Checks,
  ): Promise<Identity | Failure> {
    const { authorizationCodeGrant } = await library();
    const tokens = await authorizationCodeGrant(configuration, new URL(`${callback}?${query}`), {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const id = tokens.claims();
    const user = id === undefined ? null : userOf(client.issuer, id.sub);
    if (id === undefined || user === null) return { kind: 'failed', detail: 'no valid subject' };
    // The library compares it only where there are several audiences.
    if (id.azp !== undefined && id.azp !== client.clientId) return { kind: 'failed', detail: 'azp of another client' };
    const claim = await claimOf(configuration, id, tokens.access_token);
    return { kind: 'identity', user, groups: claim === undefined ? null : groupsIn(claim) };
  }

  return {
    begin: () =>
      attempt<Begun>(async (configuration) => {
        const { buildAuthorizationUrl, calculatePKCECodeChallenge, ...random } = await library();
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
        return { kind: 'begun', url: url.href, checks };
      }),
    async identify(query, checks) {
      if (running >= MOST_AT_ONCE) return { kind: 'busy', detail: `${MOST_AT_ONCE} sign-ins ask the provider` };
      running += 1;
      try {
        return await attempt<Identity>((configuration) => identify(configuration, query, checks));
      } finally {
        running -= 1;
      }
    },
  };
}
