/** Tenants, and sessions of their users in a browser. */
import { sql } from 'drizzle-orm';
import { bigint, check, index, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { instant, tenantId } from './columns.ts';

/** Tenants by name. A row is added when an API key with its name is first used, and is never deleted. */
export const tenants = pgTable(
  'tenants',
  {
    /** A random number, so that none is given twice, even after a restore. 1: the default tenant, of the migration. */
    id: bigint('id', { mode: 'number' }).primaryKey(),
    name: text('name').notNull(),
    /** For operators. */
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex('tenants_name').on(t.name),
    check('tenants_name_length', sql`length(${t.name}) between 1 and 64`),
  ],
);

/** Browser sessions that signed in with an API key. Only a hash of the cookie is stored. */
export const sessions = pgTable(
  'sessions',
  {
    tokenHash: text('token_hash').primaryKey(),
    tenantId: tenantId(),
    /** Identifies the API key without containing it: the session ends with the key. */
    keyId: text('key_id').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    expiresAt: instant('expires_at').notNull(),
  },
  (t) => [index('sessions_expiry').on(t.expiresAt)],
);
