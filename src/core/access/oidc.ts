/**
 * Sign-in with OpenID Connect: which groups of the provider may enter which tenant, and what their members may do there.
 * A role never includes `operator`.
 */
import { ALL_SCOPES, type Scopes } from './scopes.ts';
import { LONGEST_USER, parseUser, type User } from './user.ts';

export const OIDC_ROLES = ['viewer', 'member', 'admin'] as const;
export type OidcRole = (typeof OIDC_ROLES)[number];

/** `group`: as the provider names it. `tenant`: the name of a tenant. */
export type OidcGrant = { group: string; tenant: string; role: OidcRole };

/** How this installation sends its client secret: in the body of a request, or in the header `Authorization`. */
export const OIDC_CLIENT_AUTH = ['post', 'basic'] as const;
export type OidcClientAuth = (typeof OIDC_CLIENT_AUTH)[number];

export type OidcSettings = {
  grants: readonly OidcGrant[];
  /** The claim of the ID token, or of the userinfo response, that lists the groups of a user. */
  groupsClaim: string;
  /** Asked for in addition to `openid`. */
  scopes: readonly string[];
  /** Null: as the provider announces. */
  clientAuth: OidcClientAuth | null;
  /** The provider on the sign-in page; null: the host of its issuer. */
  name: string | null;
};

export const NO_OIDC_SETTINGS: OidcSettings = {
  grants: [],
  groupsClaim: 'groups',
  scopes: [],
  clientAuth: null,
  name: null,
};

/** A subject has at most 255 characters (OpenID Connect Core 1.0, section 2), and `#` separates the two. */
export const LONGEST_ISSUER = LONGEST_USER - 255 - 1;

/** From the least to the most. A member cannot approve what its own workers want to do. */
const SCOPES_OF: Readonly<Record<OidcRole, Scopes>> = {
  viewer: new Set(['read']),
  member: new Set(['read', 'run']),
  admin: ALL_SCOPES,
};

/** The groups whose members make keys of the tenant. */
export function groupsOfAdmins(grants: readonly OidcGrant[], tenant: string): readonly string[] {
  return grants.filter((grant) => grant.tenant === tenant && grant.role === 'admin').map(({ group }) => group);
}

/** The scopes of the highest role that the groups have in this tenant. Undefined: they have none. */
export function scopesGranted(
  grants: readonly OidcGrant[],
  groups: readonly string[],
  tenant: string,
): Scopes | undefined {
  const roles = matching(grants, groups).filter((grant) => grant.tenant === tenant);
  const highest = OIDC_ROLES.findLast((role) => roles.some((grant) => grant.role === role));
  return highest === undefined ? undefined : SCOPES_OF[highest];
}

/** The tenants to which the groups give access, in the order of the grants. */
export function tenantsGranted(grants: readonly OidcGrant[], groups: readonly string[]): readonly string[] {
  return [...new Set(matching(grants, groups).map(({ tenant }) => tenant))];
}

/** Those groups that give access to the tenant: a session keeps no others. */
export function grantingGroups(
  grants: readonly OidcGrant[],
  groups: readonly string[],
  tenant: string,
): readonly string[] {
  const granting = matching(grants, groups).filter((grant) => grant.tenant === tenant);
  return [...new Set(granting.map(({ group }) => group))];
}

function matching(grants: readonly OidcGrant[], groups: readonly string[]): OidcGrant[] {
  const own = new Set(groups);
  return grants.filter(({ group }) => own.has(group));
}

/** The groups that a claim lists. Some providers give the only group as a text. */
export function groupsIn(claim: unknown): string[] {
  const listed: unknown[] = Array.isArray(claim) ? claim : [claim];
  return listed.filter((group) => typeof group === 'string');
}

/** Whether the provider left the claim out because it is too long (OpenID Connect Core 1.0, section 5.6.2). */
export function isLeftOut(claims: Claims, name: string): boolean {
  const names = claims['_claim_names'];
  return typeof names === 'object' && names !== null && Object.hasOwn(names, name);
}

/** Of an ID token and a userinfo response. */
export type Claims = Readonly<Record<string, unknown>>;

const LONGEST_LABEL = 200;

/**
 * What people call this person: for readers of the audit log alone. It is not proved, and may be given to another person
 * later. Null: the provider sent no such claim.
 */
export function labelIn(claims: Claims): string | null {
  const names = [claims['preferred_username'], claims['email'], claims['name']];
  const label = names.filter((name) => typeof name === 'string').find((name) => name.trim() !== '');
  return label?.slice(0, LONGEST_LABEL).replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ') ?? null;
}

/** Identifies a person for good: providers give e-mail addresses and names again. Null: it is no valid subject. */
export function userOf(issuer: string, subject: string): User | null {
  return subject === '' || subject.length > 255 ? null : parseUser(`${issuer}#${subject}`);
}

/** The scopes of a user whose session keeps these groups. Undefined: none, or the user is of another issuer. */
export function scopesOfUser(
  issuer: string | null,
  grants: readonly OidcGrant[],
  { user, groups }: { user: User; groups: readonly string[] },
  tenant: string,
): Scopes | undefined {
  return issuer !== null && isOfIssuer(user, issuer) ? scopesGranted(grants, groups, tenant) : undefined;
}

/** An issuer has no fragment. */
export function isOfIssuer(user: User, issuer: string): boolean {
  return user.startsWith(`${issuer}#`);
}
