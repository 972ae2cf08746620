/** Model calls: those that got no answer, and the tool lists that were sent. */
import { index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import type { JobError } from '../../core/errors.ts';
import type { Fingerprint } from '../../core/model/fingerprint.ts';
import type { ThrottledWait } from '../../core/run/throttle.ts';
import type { ToolSpec } from '../../core/model/model.ts';
import { instant, json, jsonb, tenantId } from './columns.ts';

/** Model calls that failed, or were stopped with their job. Answered calls are stored on their messages. */
export const failedCalls = pgTable(
  'failed_calls',
  {
    jobId: uuid('job_id').notNull(),
    /** The attempt of the job that failed or was stopped. */
    attempt: integer('attempt').notNull(),
    contextId: uuid('context_id').notNull(),
    tenantId: tenantId(),
    /** `provider/model`. */
    model: text('model').notNull(),
    /** Null: it was stopped. */
    error: jsonb<JobError>('error'),
    calledAt: instant('called_at').notNull(),
    firstByteAt: instant('first_byte_at'),
    /** Its wait for a throttle, before it started; null: none. */
    throttled: jsonb<ThrottledWait>('throttled'),
    failedAt: instant('failed_at').notNull().defaultNow(),
    /** When the call is retried; null: it is not. */
    retryAt: instant('retry_at'),
    /** The fingerprint of the request; null: the call was for a summary. */
    prompt: jsonb<Fingerprint>('prompt'),
  },
  (t) => [primaryKey({ columns: [t.jobId, t.attempt] }), index('failed_calls_context').on(t.contextId)],
);

/**
 * Tool lists that were sent to models, stored once per list by hash. Tools of the config file and its MCP servers are
 * known only to worker processes.
 */
export const toolLists = pgTable(
  'tool_lists',
  {
    tenantId: tenantId(),
    hash: text('hash').notNull(),
    tools: json<ToolSpec[]>('tools').notNull(),
    /** Updated at most once a day. */
    usedAt: instant('used_at').notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.hash] }),
    index('tool_lists_age').on(t.usedAt),
    /** Those that were used last, for the catalogue of tools. */
    index('tool_lists_recent').on(t.tenantId, t.usedAt),
  ],
);
