/** Sends a test event, or a delivery again: at once, by the way of all deliveries. */
import { refuse, type Refusal } from '../../core/errors.ts';
import type { DeliveryId } from '../../core/ids.ts';
import { testBody } from '../../core/webhooks/body.ts';
import { TEST_EVENT, type WholeDelivery } from '../../core/webhooks/webhook.ts';
import { nowOf } from '../../db/connection/instant.ts';
import type { Executor } from '../../db/connection/client.ts';
import { lockWebhook } from '../../db/webhooks/attempts.ts';
import { addTest, repeatDelivery } from '../../db/webhooks/deliveries.ts';
import { findDelivery, findWebhook } from '../../db/webhooks/webhooks.ts';
import { done, type Command } from '../perform.ts';
import { noWebhook, type WebhookKey } from './change-webhook.ts';

/** Refused: `not_found`; `invalid_request` if the webhook is disabled. */
export function sendTest(key: WebhookKey, id: DeliveryId): Command<WholeDelivery> {
  return async (tx) => {
    const refusal = await whyNot(tx, key);
    if (refusal !== null) return refusal;
    const body = testBody(key.id, await nowOf(tx));
    await addTest(tx, { id, tenantId: key.tenantId, webhookId: key.id, type: TEST_EVENT, body });
    return shown(tx, key, id);
  };
}

/** Refused: `not_found`; `invalid_request` if the webhook is disabled. */
export function retryDelivery(key: WebhookKey, id: DeliveryId): Command<WholeDelivery> {
  return async (tx) => {
    const refusal = await whyNot(tx, key);
    if (refusal !== null) return refusal;
    return (await repeatDelivery(tx, key.id, id)) ? shown(tx, key, id) : noDelivery(id);
  };
}

export function noDelivery(id: string): Refusal {
  return refuse('not_found', `The webhook has no delivery with the id ${id}.`);
}

/** Locks the row of the webhook. Null: it is active. */
async function whyNot(tx: Executor, key: WebhookKey): Promise<Refusal | null> {
  const webhook = (await lockWebhook(tx, key.id)) ? await findWebhook(tx, key) : null;
  if (webhook === null) return noWebhook(key.id);
  if (webhook.status === 'active') return null;
  return refuse('invalid_request', 'The webhook is disabled. Enable it first: PATCH {"status": "active"}.');
}

async function shown(tx: Executor, key: WebhookKey, id: DeliveryId) {
  const found = await findDelivery(tx, key, id);
  return found === null ? noDelivery(id) : done(found);
}
