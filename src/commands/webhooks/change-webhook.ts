/** Makes, changes and removes webhooks. Each takes one transaction, and nothing is sent after its commit. */
import { TENANT_INACTIVE } from '../../core/access/tenant.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import type { TenantId, WebhookId } from '../../core/ids.ts';
import { MOST_WEBHOOKS, type NewWebhook, type WebhookChange, type WebhookView } from '../../core/webhooks/webhook.ts';
import type { Executor } from '../../db/connection/client.ts';
import { lockWebhook } from '../../db/webhooks/attempts.ts';
import {
  addWebhook,
  changeWebhook as change,
  findWebhook,
  lockWebhooks,
  removeWebhook as remove,
  replaceSecret,
  setNotifies,
} from '../../db/webhooks/webhooks.ts';
import { done, type Command } from '../perform.ts';

export type WebhookKey = { tenantId: TenantId; id: WebhookId };

export function noWebhook(id: string): Refusal {
  return refuse('not_found', `No webhook has the id ${id}.`);
}

/** Refused: `invalid_request` at the limit, `tenant_suspended`. */
export function makeWebhook(webhook: NewWebhook): Command<WebhookView> {
  return async (tx) => {
    const count = await lockWebhooks(tx, webhook.tenantId);
    if (count === null) return TENANT_INACTIVE;
    if (count >= MOST_WEBHOOKS)
      return refuse('invalid_request', `A tenant has at most ${MOST_WEBHOOKS} webhooks. Delete some of them.`);
    await addWebhook(tx, webhook);
    await setNotifies(tx, webhook.tenantId);
    return shown(tx, webhook);
  };
}

/** Refused: `not_found`. */
export function changeWebhook(key: WebhookKey, changes: WebhookChange): Command<WebhookView> {
  return async (tx) => {
    if (!(await isThere(tx, key))) return noWebhook(key.id);
    await change(tx, key, changes);
    return shown(tx, key);
  };
}

/** Refused: `not_found`. `secret`: encrypted. */
export function rotateSecret(key: WebhookKey, secret: string, overlapS: number): Command<WebhookView> {
  return async (tx) => {
    if (!(await isThere(tx, key))) return noWebhook(key.id);
    await replaceSecret(tx, key, { secret, overlapS });
    return shown(tx, key);
  };
}

/** Refused: `not_found`. Housekeeping deletes its deliveries. */
export function removeWebhook(key: WebhookKey): Command<object> {
  return async (tx) => {
    await lockWebhooks(tx, key.tenantId);
    if (!(await remove(tx, key))) return noWebhook(key.id);
    await setNotifies(tx, key.tenantId);
    return done({});
  };
}

/** Locks the row first, as a sender does. */
export async function isThere(tx: Executor, key: WebhookKey): Promise<boolean> {
  return (await lockWebhook(tx, key.id)) && (await findWebhook(tx, key)) !== null;
}

async function shown(tx: Executor, key: WebhookKey) {
  const found = await findWebhook(tx, key);
  return found === null ? noWebhook(key.id) : done(found);
}
