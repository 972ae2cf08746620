/**
 * Webhooks (docs/decisions/0037-webhooks.md): the addresses, the outbox that appends write to, and the deliveries that
 * worker processes make from it and send.
 */
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type { ContextId, DeliveryId, JobId, ProcessId, WebhookId } from '../../../core/ids.ts';
import {
  DELIVERY_STATUSES,
  DISABLED_REASONS,
  WEBHOOK_STATUSES,
  type DeliveryStatus,
  type DeliveryType,
  type DisabledReason,
  type WebhookEvent,
  type WebhookFilter,
  type WebhookStatus,
} from '../../../core/webhooks/webhook.ts';
import { instant, jsonb, oneOf, tenantId } from '../columns.ts';

export const webhooks = pgTable(
  'webhooks',
  {
    id: uuid('id').primaryKey().$type<WebhookId>(),
    tenantId: tenantId(),
    url: text('url').notNull(),
    events: jsonb<readonly WebhookEvent[]>('events').notNull(),
    filter: jsonb<WebhookFilter>('filter'),
    status: text('status').notNull().default('active').$type<WebhookStatus>(),
    disabledReason: text('disabled_reason').$type<DisabledReason>(),
    /** Encrypted. Empty once it is deleted. */
    secret: text('secret').notNull(),
    /** The one before the last rotation, which signs too until then. Encrypted. */
    oldSecret: text('old_secret'),
    oldSecretUntil: instant('old_secret_until'),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
    lastSuccessAt: instant('last_success_at'),
    lastFailureAt: instant('last_failure_at'),
    lastError: text('last_error'),
    /** The first failure since the last success. Null: nothing is pending. */
    failingSince: instant('failing_since'),
    /** Attempts in a row that the receiver did not answer as one that works. */
    failures: integer('failures').notNull().default(0),
    /** Nothing is sent before, but what was asked for at once. */
    heldUntil: instant('held_until'),
    /** When a worker process looks for deliveries to send. Null: none is pending, or it is disabled. */
    dueAt: instant('due_at'),
    /** The process that sends now, and until when others leave it alone, unless that process dies. */
    leaseOwner: uuid('lease_owner').$type<ProcessId>(),
    leaseUntil: instant('lease_until'),
    /** It is not shown any more. Its row goes once its deliveries are deleted. */
    deletedAt: instant('deleted_at'),
  },
  (t) => [
    index('webhooks_of_tenant').on(t.tenantId, t.id),
    index('webhooks_due')
      .on(t.dueAt)
      .where(sql`${t.dueAt} is not null`),
    index('webhooks_deleted')
      .on(t.id)
      .where(sql`${t.deletedAt} is not null`),
    check('webhooks_status', oneOf('status', WEBHOOK_STATUSES)),
    check('webhooks_disabled_reason', oneOf('disabled_reason', DISABLED_REASONS)),
    check('webhooks_disabled_says_why', sql`(${t.status} = 'disabled') = (${t.disabledReason} is not null)`),
    check('webhooks_disabled_sends_nothing', sql`${t.status} = 'active' or ${t.dueAt} is null`),
    check('webhooks_old_secret', sql`(${t.oldSecret} is null) = (${t.oldSecretUntil} is null)`),
    check('webhooks_lease', sql`(${t.leaseOwner} is null) = (${t.leaseUntil} is null)`),
  ],
);

/** Batches of events that webhooks may want, in the order of their commits within a context. */
export const webhookOutbox = pgTable(
  'webhook_outbox',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    tenantId: tenantId(),
    contextId: uuid('context_id').notNull().$type<ContextId>(),
    /** Of the row in `event_batches`. */
    seq: bigint('seq', { mode: 'number' }).notNull(),
    /** No deliveries could be made from it: it is tried again then, and later rows of its context wait for it. */
    retryAt: instant('retry_at'),
  },
  (t) => [
    index('webhook_outbox_postponed')
      .on(t.contextId)
      .where(sql`${t.retryAt} is not null`),
  ],
);

/** Jobs whose message names a webhook. */
export const jobWebhooks = pgTable(
  'job_webhooks',
  {
    jobId: uuid('job_id').notNull().$type<JobId>(),
    webhookId: uuid('webhook_id').notNull().$type<WebhookId>(),
    tenantId: tenantId(),
    contextId: uuid('context_id').notNull().$type<ContextId>(),
  },
  (t) => [
    primaryKey({ columns: [t.jobId, t.webhookId] }),
    index('job_webhooks_context').on(t.contextId),
    index('job_webhooks_webhook').on(t.webhookId),
  ],
);

/** One event for one webhook, with its body, and how its sending went. */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    /** Also `webhook-id`, the same in every attempt. */
    id: uuid('id').primaryKey().$type<DeliveryId>(),
    tenantId: tenantId(),
    webhookId: uuid('webhook_id').notNull().$type<WebhookId>(),
    /** Null: a test. */
    contextId: uuid('context_id').$type<ContextId>(),
    jobId: uuid('job_id').$type<JobId>(),
    type: text('type').notNull().$type<DeliveryType>(),
    /** Counts the deliveries of a job to a webhook. */
    seq: integer('seq'),
    body: text('body').notNull(),
    status: text('status').notNull().default('pending').$type<DeliveryStatus>(),
    attempts: integer('attempts').notNull().default(0),
    createdAt: instant('created_at').notNull().defaultNow(),
    /** Of a pending one. */
    nextAttemptAt: instant('next_attempt_at'),
    /** A client asked for its next attempt: it goes before all others, also while the webhook is on hold. */
    atOnce: boolean('at_once').notNull().default(false),
    /** An attempt that fails from then on is the last one. */
    giveUpAt: instant('give_up_at').notNull(),
    lastAttemptAt: instant('last_attempt_at'),
    deliveredAt: instant('delivered_at'),
    /** Of the last attempt. */
    durationMs: integer('duration_ms'),
    responseStatus: integer('response_status'),
    /** The beginning of the response. */
    responseBody: text('response_body'),
    error: text('error'),
  },
  (t) => [
    index('webhook_deliveries_log').on(t.webhookId, t.id),
    index('webhook_deliveries_due')
      .on(t.webhookId, t.nextAttemptAt)
      .where(sql`${t.status} = 'pending'`),
    index('webhook_deliveries_at_once')
      .on(t.webhookId, t.nextAttemptAt)
      .where(sql`${t.atOnce}`),
    index('webhook_deliveries_failed')
      .on(t.webhookId, t.id)
      .where(sql`${t.status} = 'failed'`),
    index('webhook_deliveries_of_tenant').on(t.tenantId),
    uniqueIndex('webhook_deliveries_order')
      .on(t.webhookId, t.jobId, t.seq)
      .where(sql`${t.jobId} is not null`),
    index('webhook_deliveries_context')
      .on(t.contextId)
      .where(sql`${t.contextId} is not null`),
    index('webhook_deliveries_age').on(t.createdAt),
    check('webhook_deliveries_status', oneOf('status', DELIVERY_STATUSES)),
    check('webhook_deliveries_pending', sql`(${t.status} = 'pending') = (${t.nextAttemptAt} is not null)`),
    check('webhook_deliveries_at_once_is_pending', sql`not ${t.atOnce} or ${t.status} = 'pending'`),
    check('webhook_deliveries_delivered', sql`${t.status} <> 'delivered' or ${t.deliveredAt} is not null`),
    check('webhook_deliveries_of_job', sql`num_nonnulls(${t.contextId}, ${t.jobId}, ${t.seq}) in (0, 3)`),
  ],
);
