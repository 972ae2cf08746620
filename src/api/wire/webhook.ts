/** Converts webhooks and deliveries to their API form. */
import type { DeliveryView, WebhookView, WholeDelivery as WholeView } from '../../core/webhooks/webhook.ts';
import { toIso, toIsoOrNull } from '../request/instant.ts';
import type { Delivery, Webhook, WholeDelivery } from '../schemas/webhooks/webhook.ts';

export function toWebhook({ id, url, events, filter, status, ...view }: WebhookView): Webhook {
  return {
    id,
    url,
    events: [...events],
    filter,
    status,
    disabled_reason: view.disabledReason,
    created_at: toIso(view.createdAt),
    updated_at: toIso(view.updatedAt),
    last_success_at: toIsoOrNull(view.lastSuccessAt),
    last_failure_at: toIsoOrNull(view.lastFailureAt),
    last_error: view.lastError,
    failing_since: toIsoOrNull(view.failingSince),
    pending: view.pending,
  };
}

export function toDelivery({ id, type, seq, status, attempts, error, ...view }: DeliveryView): Delivery {
  return {
    id,
    webhook_id: view.webhookId,
    type,
    context_id: view.contextId,
    job_id: view.jobId,
    seq,
    status,
    attempts,
    created_at: toIso(view.createdAt),
    next_attempt_at: toIsoOrNull(view.nextAttemptAt),
    last_attempt_at: toIsoOrNull(view.lastAttemptAt),
    delivered_at: toIsoOrNull(view.deliveredAt),
    duration_ms: view.durationMs,
    response_status: view.responseStatus,
    error,
  };
}

export function toWholeDelivery({ body, responseBody, ...view }: WholeView): WholeDelivery {
  return { ...toDelivery(view), body, response_body: responseBody };
}
