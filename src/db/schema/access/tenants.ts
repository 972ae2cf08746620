/** Tenants, their API keys, the browser sessions of keys, and what ended tokens. */
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  doublePrecision,
  index,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type { ApiKeyId, TenantId } from '../../../core/ids.ts';
import { TENANT_STATUSES, type Allow, type Deletion, type TenantStatus } from '../../../core/access/tenant.ts';
import type { KeyLimits, TenantLimits } from '../../../core/access/quotas.ts';
import { instant, jsonb, oneOf, tenantId, userName } from '../columns.ts';

/**
 * Tenants by name. A row is added by the operator, or when an API key of its name is made or first used. It is deleted
 * after everything else of the tenant.
 */
export const tenants = pgTable(
  'tenants',
  {
    /** A random number, so that none is given twice, even after a restore. 1: the default tenant, of the migration. */
    id: bigint('id', { mode: 'number' }).primaryKey(),
    name: text('name').notNull(),
    /** Only what belongs to an active tenant is changed or run. */
    status: text('status').notNull().default('active').$type<TenantStatus>(),
    /** Its share of the slots, if several tenants have work. */
    weight: doublePrecision('weight').notNull().default(1),
    /** Its limits. What is missing is not limited, or by the config file. */
    limits: jsonb<TenantLimits>('limits').notNull().default({}),
    /** What its workers may use. A list that is missing allows everything. */
    allow: jsonb<Allow>('allow').notNull().default({}),
    /** Whether it has webhooks: then its appends write to their outbox. */
    notifies: boolean('notifies').notNull().default(false),
    /** For operators. */
    createdAt: instant('created_at').notNull().defaultNow(),
    /** Who deletes it, since when, and what is deleted already. */
    deletion: jsonb<Deletion>('deletion'),
    /** One process deletes its data; another may when this time has passed. */
    deletionLease: instant('deletion_lease'),
  },
  (t) => [
    uniqueIndex('tenants_name').on(t.name),
    index('tenants_special')
      .on(t.id)
      .where(sql`${t.status} <> 'active' or ${t.weight} <> 1 or ${t.limits}->'slots' is not null`),
    check('tenants_status', oneOf('status', TENANT_STATUSES)),
    check('tenants_weight', sql`${t.weight} between 0.01 and 100`),
    check('tenants_deletion', sql`(${t.status} = 'deleting') = (${t.deletion} is not null)`),
    check('tenants_name_length', sql`length(${t.name}) between 1 and 64`),
  ],
);

/** Keys that the API made. The rows of revoked and expired keys are deleted later. */
export const apiKeys = pgTable(
  'api_keys',
  {
    id: uuid('id').primaryKey().$type<ApiKeyId>(),
    tenantId: tenantId(),
    name: text('name').notNull(),
    /** SHA-256 of the key, base64url. */
    hash: text('hash').notNull(),
    /** Separated by `+`. */
    scopes: text('scopes').notNull(),
    /** What is missing is limited by its tenant alone. */
    limits: jsonb<KeyLimits>('limits').notNull().default({}),
    createdAt: instant('created_at').notNull().defaultNow(),
    expiresAt: instant('expires_at'),
    /** How long it was to be valid, in milliseconds: a rotation ends a key earlier. Null: without an end. */
    lifetimeMs: bigint('lifetime_ms', { mode: 'number' }),
    /** Exact to a minute. */
    lastUsedAt: instant('last_used_at'),
    revokedAt: instant('revoked_at'),
    /** The operator made it: until it is used, it may have been lost. */
    isByOperator: boolean('is_by_operator').notNull().default(false),
    /** The key whose rotation made this one. */
    replaces: uuid('replaces').$type<ApiKeyId>(),
  },
  (t) => [
    index('api_keys_of_tenant').on(t.tenantId, t.id),
    check('api_keys_hash', sql`length(${t.hash}) = 43`),
    // A key without limits that it made, or a token, would have none.
    check('api_keys_limits', sql`${t.limits} = '{}' or not 'keys' = any (string_to_array(${t.scopes}, '+'))`),
    check('api_keys_scopes', sql`${t.scopes} ~ '^[a-z]+([+][a-z]+)*$'`),
  ],
);

/**
 * Browser sessions, of an API key, of a user of the OpenID provider, or of the admin key. Only a hash of the cookie is
 * stored.
 */
export const sessions = pgTable(
  'sessions',
  {
    tokenHash: text('token_hash').primaryKey(),
    /** Null: a session of the operator, who has no tenant. */
    tenantId: bigint('tenant_id', { mode: 'number' }).$type<TenantId>(),
    /** Identifies a key of the environment, or the admin key, without containing it: the session ends with the key. */
    keyId: text('key_id'),
    /** The session ends with this key. */
    apiKeyId: uuid('api_key_id')
      .$type<ApiKeyId>()
      .references(() => apiKeys.id, { onDelete: 'cascade' }),
    user: userName(),
    /** Those of the user that give access to the tenant: their grants may be changed in the config file. */
    groups: jsonb<readonly string[]>('groups'),
    createdAt: instant('created_at').notNull().defaultNow(),
    expiresAt: instant('expires_at').notNull(),
  },
  (t) => [
    index('sessions_of_tenant').on(t.tenantId),
    index('sessions_expiry').on(t.expiresAt),
    index('sessions_api_key').on(t.apiKeyId),
    check('sessions_key', sql`num_nonnulls(${t.keyId}, ${t.apiKeyId}, ${t.user}) = 1`),
    check('sessions_groups', sql`num_nonnulls(${t.user}, ${t.groups}) in (0, 2)`),
    check('sessions_operator', sql`${t.tenantId} is not null or ${t.keyId} is not null`),
  ],
);

/** When the tokens of a user were last revoked: those made until then have ended. */
export const tokenRevocations = pgTable(
  'token_revocations',
  {
    tenantId: tenantId(),
    user: userName().notNull(),
    revokedAt: instant('revoked_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.user] }), index('token_revocations_time').on(t.revokedAt)],
);
