/** Search: the index, and the contexts that it does not hold yet. */
import { bigint, customType, index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { instant, tenantId } from './columns.ts';

/**
 * The search index: one row per user or assistant message with text, written after the append (see search-index.ts).
 */
export const searchEntries = pgTable(
  'search_entries',
  {
    contextId: uuid('context_id').notNull(),
    seq: bigint('seq', { mode: 'number' }).notNull(),
    tenantId: tenantId(),
    messageId: uuid('message_id').notNull(),
    role: text('role').notNull(),
    /** When the message was created. */
    createdAt: instant('created_at').notNull(),
    /** Its words, and its tenant and context as marks, so that one index serves both scopes. */
    document: customType<{ data: string }>({ dataType: () => 'tsvector' })('document').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.contextId, t.seq] }),
    index('search_entries_document').using('gin', t.document).with({ gin_pending_list_limit: 1024 }),
  ],
);

/** Contexts whose messages up to a number may not be in the search index yet. */
export const searchBacklog = pgTable('search_backlog', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  contextId: uuid('context_id').notNull(),
  tenantId: tenantId(),
  uptoSeq: bigint('upto_seq', { mode: 'number' }).notNull(),
});
