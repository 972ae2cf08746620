// Webhooks of a fleet, made by the commands.
import { makeWebhook } from '../../../src/commands/webhooks/change-webhook.ts';
import { DEFAULT_TENANT, type TenantId, type WebhookId } from '../../../src/core/ids.ts';
import type { NewWebhook, WebhookEvent } from '../../../src/core/webhooks/webhook.ts';
import { ids } from '../../../src/platform/ids.ts';
import { newWebhookSecret } from '../../../src/webhooks/secret-box.ts';
import { webhooksWith } from '../../services/webhooks.ts';
import type { Fleet } from '../worker-fleet.ts';
import type { Receiver } from './receiver.ts';

export const WEBHOOKS = webhooksWith(['the-secret-of-these-tests-with-32-characters']);

export const ALL: readonly WebhookEvent[] = [
  'job.started',
  'job.waiting',
  'job.finished',
  'approval.requested',
  'approval.resolved',
  'worker.failed',
];

export async function addHook(
  fleet: Fleet,
  receiver: Receiver,
  over: Partial<Pick<NewWebhook, 'events' | 'filter' | 'url' | 'tenantId'>> = {},
): Promise<WebhookId> {
  const id = ids.next<WebhookId>();
  const tenantId: TenantId = over.tenantId ?? DEFAULT_TENANT;
  receiver.secret = newWebhookSecret();
  const secret = WEBHOOKS.secretBox?.seal({ tenantId, id }, receiver.secret) ?? '';
  const webhook = { id, tenantId, url: receiver.url, events: ALL, filter: null, status: 'active', secret } as const;
  await fleet.perform(makeWebhook({ ...webhook, ...over }));
  return id;
}

/** What was received of a job, in the order of arrival. */
export function arrivals({ received }: Receiver, jobId: string): (readonly [string, number | null])[] {
  return received.filter((one) => one.jobId === jobId).map(({ type, seq }) => [type, seq] as const);
}

export async function hookRow(fleet: Fleet, id: WebhookId): Promise<Record<string, unknown>> {
  const [row] = await fleet.query(`select * from webhooks where id = '${id}'`);
  return row ?? {};
}

export async function deliveryRows(fleet: Fleet, id: WebhookId): Promise<Record<string, unknown>[]> {
  return fleet.query(`select * from webhook_deliveries where webhook_id = '${id}' order by id`);
}

/** What waits for its time is due now. */
export async function passTime(fleet: Fleet, id: WebhookId): Promise<void> {
  await fleet.query(`update webhook_deliveries set next_attempt_at = now() - interval '1 second'
    where webhook_id = '${id}' and status = 'pending'`);
  await fleet.query(
    `update webhooks set due_at = now() - interval '1 second', held_until = null where id = '${id}' and status = 'active'`,
  );
}
