/** Sign-in with OpenID Connect in the config file. The provider itself comes from the environment. */
import { Type, type Static } from 'typebox';
import {
  NO_OIDC_SETTINGS,
  OIDC_CLIENT_AUTH,
  OIDC_ROLES,
  type OidcClientAuth,
  type OidcRole,
  type OidcSettings,
} from '../../../core/access/oidc.ts';
import { oneOf, partial, strict } from '../../../schema/build.ts';

/** Each sign-in checks all of them. */
const MOST_GRANTS = 1_000;

const Grant = strict({
  group: Type.String({ minLength: 1, maxLength: 256 }),
  tenant: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' }),
  role: oneOf(OIDC_ROLES),
});

export const Oidc = partial({
  grants: Type.Array(Grant, { maxItems: MOST_GRANTS }),
  groups_claim: Type.String({ minLength: 1, maxLength: 256 }),
  // A scope token of RFC 6749.
  scopes: Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5B\\x5D-\\x7E]{1,256}$' }), { maxItems: 50 }),
  client_auth: oneOf(OIDC_CLIENT_AUTH),
  name: Type.String({ minLength: 1, maxLength: 100 }),
});

/** Members of the group may do in the tenant what the role allows. */
export type OidcGrantDefinition = {
  /** As the provider names it. */
  group: string;
  tenant: string;
  /** `viewer`: read. `member`: read and run. `admin`: every scope of a tenant. */
  role: OidcRole;
};

export type OidcDefinition = {
  /** The first grant that matches a person decides which tenant is entered; its highest role counts. */
  grants?: readonly OidcGrantDefinition[] | undefined;
  /** The claim with the groups: `groups`. */
  groups_claim?: string | undefined;
  /** Asked for in addition to `openid`. */
  scopes?: readonly string[] | undefined;
  /** Sends the client secret in the body (`post`) or in the header (`basic`). Default: as the provider announces. */
  client_auth?: OidcClientAuth | undefined;
  /** The provider on the sign-in page. Default: the host of its issuer. */
  name?: string | undefined;
};

export function toOidcSettings(section: Static<typeof Oidc>): OidcSettings {
  const { grants, groups_claim, scopes, client_auth, name } = section;
  const none = NO_OIDC_SETTINGS;
  return {
    grants: grants ?? none.grants,
    groupsClaim: groups_claim ?? none.groupsClaim,
    scopes: scopes ?? none.scopes,
    clientAuth: client_auth ?? none.clientAuth,
    name: name ?? none.name,
  };
}
