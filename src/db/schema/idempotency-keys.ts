import { index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { JsonObject } from '../../core/json.ts';
import { instant, jsonb, tenantId } from './columns.ts';

/** Responses to requests with an `Idempotency-Key`, stored in the transaction of the request's write. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    tenantId: tenantId(),
    key: text('key').notNull(),
    /** Hash of method, path and body. */
    request: text('request').notNull(),
    /** Null while the first request is in progress. */
    response: jsonb<JsonObject>('response'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.key] }), index('idempotency_keys_age').on(t.createdAt)],
);
