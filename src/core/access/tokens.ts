/**
 * Tokens: short-lived credentials of an end user, for browsers. A key of the tenant makes them. They are signed, not
 * stored, and end with their key.
 */
import type { KeyRef } from './api-keys.ts';
import type { ContextId, TenantId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { Scope } from './scopes.ts';
import type { Millis } from '../time.ts';
import type { User } from './user.ts';

/** What a token may allow. */
export const TOKEN_SCOPES = ['read', 'run', 'approve'] as const satisfies readonly Scope[];
export type TokenScope = (typeof TOKEN_SCOPES)[number];

export type Token = {
  /** `jti` of the JWT. */
  id: string;
  tenantId: TenantId;
  user: User;
  /** The key that made it. */
  key: KeyRef;
  scopes: readonly TokenScope[];
  /** The contexts that it gives access to; null: those of the user. */
  contextIds: readonly ContextId[] | null;
  /** Part of the metadata of all jobs that it makes. */
  metadata: JsonObject;
  issuedAt: Millis;
  expiresAt: Millis;
};

/** In seconds: a day. */
export const LONGEST_TOKEN_S = 86_400;

/** Contexts that a token names, at most: a token is sent with each request. */
export const MOST_TOKEN_CONTEXTS = 50;

/** The largest `metadata` of a token, in bytes of JSON. */
export const TOKEN_METADATA_BYTES = 2_048;
