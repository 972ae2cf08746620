/**
 * The OpenID provider as `openid-client` calls it. A call ends after a few seconds, and few run at once, so that a
 * provider that does not answer costs no one else anything.
 */
import type { Configuration, IDToken } from 'openid-client';
import { groupsIn, isLeftOut, labelIn, userOf, type Claims, type OidcSettings } from '../../core/access/oidc.ts';
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

/** `no_claim`: the provider sent no such claim. `too_many_groups`: it says that it left the claim out. */
export type Groups = readonly string[] | 'no_claim' | 'too_many_groups';

/** `label`: what people call the user. It is not proved. Null: the provider does not tell. */
export type Identity = { kind: 'identity'; user: User; groups: Groups; label: string | null };

type Begun = { kind: 'begun'; url: string; checks: Checks };

export type Provider = {
  /** `choose`: lets the person choose another account. */
  begin(choose: boolean): Promise<Begun | Failure>;
  /** `query`: of the callback. */
  identify(query: string, checks: Checks): Promise<Identity | Failure>;
};

export function openProvider(
  client: OidcClient,
  { groupsClaim, scopes, clientAuth }: Pick<OidcSettings, 'groupsClaim' | 'scopes' | 'clientAuth'>,
): Provider {
  const callback = `${client.publicUrl}${CALLBACK}`;
  const announcement = announcementOf(client, clientAuth);
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

  /** The userinfo response is asked for if the groups are not in the ID token. */
  async function claimsOf(configuration: Configuration, id: IDToken, accessToken: string): Promise<Claims> {
    const isWhole = id[groupsClaim] !== undefined || configuration.serverMetadata().userinfo_endpoint === undefined;
    if (isWhole) return id;
    const { fetchUserInfo } = await library();
    return { ...(await fetchUserInfo(configuration, accessToken, id.sub)), ...id };
  }

  function groupsOf(claims: Claims): Groups {
    const claim = claims[groupsClaim];
    if (claim !== undefined) return groupsIn(claim);
    return isLeftOut(claims, groupsClaim) ? 'too_many_groups' : 'no_claim';
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
    const claims = await claimsOf(configuration, id, tokens.access_token);
    return { kind: 'identity', user, groups: groupsOf(claims), label: labelIn(claims) };
  }

  return {
    begin: (choose) =>
      attempt<Begun>(async (configuration) => {
        const { buildAuthorizationUrl, calculatePKCECodeChallenge, ...random } = await library();
        const checks: Checks = {
          state: random.randomState(),
          nonce: random.randomNonce(),
          verifier: random.randomPKCECodeVerifier(),
        };
        const url = buildAuthorizationUrl(configuration, {
          redirect_uri: callback,
          scope: scopeFor(configuration, scopes),
          ...(choose && { prompt: promptFor(configuration) }),
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

/** `profile` is for the label of the person: it is asked for if the provider knows it. */
function scopeFor(configuration: Configuration, scopes: readonly string[]): string {
  const knowsProfile = configuration.serverMetadata().scopes_supported?.includes('profile') === true;
  return [...new Set(['openid', ...(knowsProfile ? ['profile'] : []), ...scopes])].join(' ');
}

/** Every provider has `login` (OpenID Connect Core 1.0, section 15.1); some refuse what they do not announce. */
function promptFor(configuration: Configuration): string {
  const announced = configuration.serverMetadata()['prompt_values_supported'];
  return Array.isArray(announced) && announced.includes('select_account') ? 'select_account' : 'login';
}
