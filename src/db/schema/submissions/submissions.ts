/**
 * Jobs that services add in transactions of their own, by the function `nightshift_submit_v1`, and which database roles
 * may do so for which tenants. A submission is no row of its context: it stays if the context is deleted, without its content.
 */
import { sql } from 'drizzle-orm';
import { bigint, boolean, check, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import type { ContextId, JobId, OutboxId, WorkerId } from '../../../core/ids.ts';
import type { Json } from '../../../core/json.ts';
import { SUBMISSION_STATUSES, type SubmissionError } from '../../../core/submissions/submission.ts';
import { instant, json, jsonb, oneOf, tenantId, userName } from '../columns.ts';

/** A row is deleted by the transaction that inserts its job. */
export const submissions = pgTable(
  'submissions',
  {
    /** Of its job. */
    id: uuid('id').primaryKey().$type<JobId>(),
    tenantId: tenantId(),
    /** The order in which those of a context become jobs. */
    position: bigint('position', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    targetContextId: uuid('target_context_id').notNull().$type<ContextId>(),
    workerId: uuid('worker_id').notNull().$type<WorkerId>(),
    /** It creates this context and this worker. */
    createsWorker: boolean('creates_worker').notNull(),
    /** The user of the worker. */
    user: userName(),
    /** As the service sent it: checked again before it becomes a job. Of one that became none: without its content. */
    body: json<Json>('body').notNull(),
    /** Of the body. */
    bytes: integer('bytes').notNull(),
    status: text('status').notNull().default('queued'),
    /** Why it became no job. */
    error: jsonb<SubmissionError>('error'),
    /** When it is tried again: after an error of the database, or while there is no room. Those behind it wait, too. */
    retryAt: instant('retry_at'),
    createdAt: instant('created_at')
      .notNull()
      .default(sql`statement_timestamp()`),
    finishedAt: instant('finished_at'),
  },
  (t) => [
    index('submissions_queued_of_tenant')
      .on(t.tenantId, t.position)
      .where(sql`${t.status} = 'queued'`),
    index('submissions_queued_of_context')
      .on(t.targetContextId, t.position)
      .where(sql`${t.status} = 'queued'`),
    index('submissions_postponed')
      .on(t.retryAt)
      .where(sql`${t.status} = 'queued' and ${t.retryAt} is not null`),
    index('submissions_of_tenant').on(t.tenantId),
    index('submissions_finished')
      .on(t.finishedAt)
      .where(sql`${t.finishedAt} is not null`),
    check('submissions_status', oneOf('status', SUBMISSION_STATUSES)),
    check('submissions_failed_says_why', sql`(${t.status} = 'failed') = (${t.error} is not null)`),
    check('submissions_finished', sql`(${t.status} <> 'queued') = (${t.finishedAt} is not null)`),
    check('submissions_bytes', sql`${t.bytes} > 0`),
  ],
);

/** A role of PostgreSQL that may submit jobs for a tenant. Its members may, too. */
export const submissionGrants = pgTable(
  'submission_grants',
  {
    roleName: text('role_name').notNull(),
    tenantId: tenantId(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.roleName, t.tenantId] }), index('submission_grants_of_tenant').on(t.tenantId)],
);

/**
 * A row of an outbox that became a submission, until it is deleted from the outbox: so it becomes one once, also if the
 * process dies between both, and its job was deleted meanwhile. It belongs to no tenant.
 */
export const outboxReceipts = pgTable(
  'outbox_receipts',
  {
    outboxId: uuid('outbox_id').notNull().$type<OutboxId>(),
    /** Of the row in its outbox. */
    position: bigint('position', { mode: 'number' }).notNull(),
    jobId: uuid('job_id').notNull().$type<JobId>(),
    /** When a process last found its row, to the day. */
    seenAt: instant('seen_at')
      .notNull()
      .default(sql`statement_timestamp()`),
  },
  (t) => [primaryKey({ columns: [t.outboxId, t.position, t.jobId] })],
);
