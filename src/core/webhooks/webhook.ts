/** Webhooks: HTTP addresses of a tenant that receive events of its jobs. */
import type { ContextId, DeliveryId, JobId, TenantId, WebhookId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { Millis } from '../time.ts';

/** The events that a webhook may subscribe to. */
export const WEBHOOK_EVENTS = [
  'job.started',
  'job.waiting',
  'job.finished',
  'approval.requested',
  'approval.resolved',
  'worker.failed',
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** What the webhook that a message names receives of its job, whatever its own events and filter. */
export const EVENTS_OF_NAMED: readonly WebhookEvent[] = ['job.waiting', 'job.finished'];

export const TEST_EVENT = 'webhook.test';
export type DeliveryType = WebhookEvent | typeof TEST_EVENT;

export const WEBHOOK_STATUSES = ['active', 'disabled'] as const;
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

/**
 * `requested`: by a client. `failing`: a delivery was given up after three days, and none succeeded meanwhile. `gone`: it
 * answered 410. `backlog`: too many deliveries were pending.
 */
export const DISABLED_REASONS = ['requested', 'failing', 'gone', 'backlog'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** `failed`: given up. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Jobs of workers with this role; jobs whose metadata contains this object. */
export type WebhookFilter = { role?: string; metadata?: JsonObject };

export type WebhookView = {
  id: WebhookId;
  url: string;
  events: readonly WebhookEvent[];
  filter: WebhookFilter | null;
  status: WebhookStatus;
  disabledReason: DisabledReason | null;
  createdAt: Millis;
  updatedAt: Millis;
  lastSuccessAt: Millis | null;
  lastFailureAt: Millis | null;
  lastError: string | null;
  failingSince: Millis | null;
  /** Deliveries that are neither delivered nor given up. */
  pending: number;
};

export type DeliveryView = {
  id: DeliveryId;
  webhookId: WebhookId;
  contextId: ContextId | null;
  jobId: JobId | null;
  type: DeliveryType;
  seq: number | null;
  status: DeliveryStatus;
  attempts: number;
  createdAt: Millis;
  nextAttemptAt: Millis | null;
  lastAttemptAt: Millis | null;
  deliveredAt: Millis | null;
  durationMs: number | null;
  responseStatus: number | null;
  error: string | null;
};

export type WholeDelivery = DeliveryView & { body: string; responseBody: string | null };

/** `secret`: encrypted. */
export type NewWebhook = Pick<WebhookView, 'id' | 'url' | 'events' | 'filter' | 'status'> & {
  tenantId: TenantId;
  secret: string;
};

/** Members that are missing stay as they are. */
export type WebhookChange = Partial<Pick<WebhookView, 'url' | 'events' | 'filter' | 'status'>>;

/** Webhooks of one tenant. */
export const MOST_WEBHOOKS = 50;
/** Pending deliveries of one webhook: it is disabled beyond. */
export const MOST_PENDING = 10_000;
export const LONGEST_URL = 2_000;
/** The largest filter, in bytes of JSON. */
export const FILTER_BYTES = 4_096;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** How long a delivery is retried. */
export const RETRIED_FOR_MS = 3 * DAY_MS;
/** How long an undelivered event delays later ones of its job, at most. */
export const LONGEST_DELAY_MS = 5 * MINUTE_MS;
/** How long deliveries are kept. */
export const KEPT_FOR_MS = 30 * DAY_MS;
