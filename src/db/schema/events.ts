import { bigint, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import type { JsonObject } from '../../core/json.ts';
import { instant, jsonb, tenantId } from './columns.ts';

/** Events of a context, in one sequence of numbers with its messages. */
export const events = pgTable(
  'events',
  {
    contextId: uuid('context_id').notNull(),
    tenantId: tenantId(),
    seq: bigint('seq', { mode: 'number' }).notNull(),
    name: text('name').notNull(),
    data: jsonb<JsonObject>('data').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.contextId, t.seq] })],
);
