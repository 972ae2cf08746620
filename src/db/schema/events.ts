/** The events of a context, in one sequence of numbers with its messages (docs/decisions/0027-event-batches.md). */
import { sql } from 'drizzle-orm';
import { bigint, check, pgTable, pgView, primaryKey, uuid } from 'drizzle-orm/pg-core';
import type { JsonObject } from '../../core/json.ts';
import { instant, json, tenantId } from './columns.ts';

/** An event in its batch: its number less `first_seq`, its name, its data. */
export type BatchedEvent = readonly [offset: number, name: string, data: JsonObject];

/** The events that one transaction added. Messages have numbers between them. */
export const eventBatches = pgTable(
  'event_batches',
  {
    contextId: uuid('context_id').notNull(),
    tenantId: tenantId(),
    /** The number of the last event. */
    seq: bigint('seq', { mode: 'number' }).notNull(),
    /** The number of the first event. */
    firstSeq: bigint('first_seq', { mode: 'number' }).notNull(),
    /** The lease epoch of the context then. */
    epoch: bigint('epoch', { mode: 'number' }).notNull(),
    events: json<readonly BatchedEvent[]>('events').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.contextId, t.seq] }),
    check('event_batches_numbers', sql`${t.firstSeq} > 0 and ${t.firstSeq} <= ${t.seq}`),
  ],
);

/** Each event as a row. Conditions on `batch`, the number of its row, use the primary key; those on `seq` do not. */
export const events = pgView('events', {}).with({ securityInvoker: true })
  .as(sql`select b.context_id, b.tenant_id, b.seq as batch, b.first_seq + (e.event ->> 0)::bigint as seq, e.event ->> 1 as name,
    e.event -> 2 as data, b.created_at
  from event_batches b cross join lateral json_array_elements(b.events) as e(event)`);
