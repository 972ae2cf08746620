/**
 * Stores how a batch of attempts to one webhook went.
 *
 * - Checked: under the lock of the webhook's row, that it is not deleted. A delivery that another process has delivered
 *   meanwhile stays as it is.
 * - Written: the deliveries; those that they delayed are due now; the webhook's health, and when it is due again;
 *   if it is disabled, an entry of the audit log.
 * - After the commit: nothing. The caller looks for more to send.
 */
import type { DisabledReason } from '../../core/webhooks/webhook.ts';
import type { Ids, TenantId, WebhookId } from '../../core/ids.ts';
import {
  endLease,
  lockWebhook,
  releaseNext,
  retryNow,
  storeAttempts as store,
  storeHealth,
  type Attempt,
  type Health,
} from '../../db/webhooks/attempts.ts';
import { done, type Command } from '../perform.ts';
import { recordDisabled } from './record-disabled.ts';

/** `wasFailing`: the receiver did not work before. */
export type Batch = {
  tenantId: TenantId;
  webhookId: WebhookId;
  attempts: readonly Attempt[];
  health: Health;
  wasFailing: boolean;
};

/** Returns why the webhook is disabled now; null: it is not. */
export function storeAttempts(
  ids: Ids,
  { tenantId, webhookId, attempts, health, wasFailing }: Batch,
): Command<{ disabled: DisabledReason | null }> {
  return async (tx) => {
    if (!(await lockWebhook(tx, webhookId))) return done({ disabled: null });
    if (attempts.length === 0) {
      await endLease(tx, webhookId, health.owner);
      return done({ disabled: null });
    }
    const ended = await store(tx, attempts);
    const jobs = ended.flatMap(({ jobId, status }) => (status === 'pending' || jobId === null ? [] : [jobId]));
    if (jobs.length > 0) await releaseNext(tx, webhookId, jobs);
    if (health.isWorking && wasFailing) await retryNow(tx, webhookId);
    const givenUp = ended.flatMap(({ id, jobId, status }) => (status === 'failed' && jobId !== null ? [id] : []));
    const disabled = await storeHealth(tx, webhookId, health, givenUp);
    if (disabled !== null) await recordDisabled(tx, ids, [{ id: webhookId, tenantId }], disabled);
    return done({ disabled });
  };
}
