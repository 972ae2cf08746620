import { sql } from 'drizzle-orm';
import { bigint, check, foreignKey, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import type { Span } from '../../core/conversation/branch.ts';
import { counter, instant, jsonb, tenantId, usageCounters } from './columns.ts';
import { contexts } from './contexts.ts';

/**
 * A branch, with its fork point on its parent. Its own messages have higher numbers than its creation, so that a reused
 * branch name does not show messages of the old branch, and a cleared branch none from before.
 */
export const branches = pgTable(
  'branches',
  {
    contextId: uuid('context_id').notNull(),
    tenantId: tenantId(),
    name: text('name').notNull(),
    parentName: text('parent_name'),
    forkSeq: bigint('fork_seq', { mode: 'number' }),
    /**
     * All spans that it reads, in order: those shared with its ancestors, and last its own open span. Null: every
     * message with its name.
     */
    spans: jsonb<Span[]>('spans'),
    /** Counters of its own span, from the jobs that ended on it. */
    messageCount: counter('message_count'),
    requestCount: counter('request_count'),
    ...usageCounters(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.contextId, t.name] }),
    foreignKey({ columns: [t.contextId], foreignColumns: [contexts.id] }).onDelete('cascade'),
    check('branches_fork', sql`(${t.parentName} is null) = (${t.forkSeq} is null)`),
  ],
);
