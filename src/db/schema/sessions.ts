import { index, pgTable, text } from 'drizzle-orm/pg-core';
import { instant, tenantId } from './columns.ts';

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
