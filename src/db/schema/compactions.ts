import { sql } from 'drizzle-orm';
import { bigint, check, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { instant, oneOf, tenantId } from './columns.ts';

/** Replacements for older messages in a prompt. The messages themselves stay stored. */
export const compactions = pgTable(
  'compactions',
  {
    id: uuid('id').primaryKey(),
    tenantId: tenantId(),
    contextId: uuid('context_id').notNull(),
    branch: text('branch').notNull(),
    /** Its number in the context's sequence: that of its event. */
    seq: bigint('seq', { mode: 'number' }).notNull(),
    /** The last message that it covers. */
    uptoSeq: bigint('upto_seq', { mode: 'number' }).notNull(),
    type: text('type').notNull(),
    /** The summary that a model wrote. Null: only tool results are replaced by their summaries. */
    summary: text('summary'),
    /** The `provider/model` that wrote the summary. */
    model: text('model'),
    tokensBefore: integer('tokens_before').notNull(),
    tokensAfter: integer('tokens_after').notNull(),
    jobId: uuid('job_id').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex('compactions_place').on(t.contextId, t.branch, t.seq),
    check('compactions_type', oneOf('type', ['threshold', 'llm'])),
    check('compactions_summary', sql`(${t.type} = 'llm') = (${t.summary} is not null)`),
    check('compactions_upto', sql`${t.uptoSeq} < ${t.seq}`),
  ],
);
