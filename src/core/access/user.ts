/**
 * End users of a tenant, as the tenant's own service names them. Nightshift keeps no list of users: a name identifies
 * one within its tenant, and its spelling is compared exactly.
 */
declare const kind: unique symbol;
export type User = string & { readonly [kind]: 'user' };

/** Empty: none. For keys and indexes, where null would not do. */
export type UserOrNone = User | '';

/** Null: the value names no user. */
export function parseUser(value: unknown): User | null {
  return typeof value === 'string' && value !== '' && Array.from(value).length <= LONGEST_USER ? (value as User) : null;
}

/** In characters (code points). OpenID Connect names a user by its issuer and a subject of at most 255 characters. */
export const LONGEST_USER = 500;
