// Webhooks of an environment, made by the command.
import { perform } from '../../../src/commands/perform.ts';
import { makeWebhook } from '../../../src/commands/webhooks/change-webhook.ts';
import { DEFAULT_TENANT, type WebhookId } from '../../../src/core/ids.ts';
import { ids } from '../../../src/platform/ids.ts';
import { newWebhookSecret } from '../../../src/webhooks/secret-box.ts';
import { webhooksWith } from '../../services/webhooks.ts';
import type { Receiver } from '../../workers/webhooks/receiver.ts';
import type { TestEnvironment } from './environment.ts';

/** The `NIGHTSHIFT_SECRET_KEY` of processes that send to them. */
export const WEBHOOK_SECRET = 'the-secret-of-these-tests-with-32-characters';

/** For the begins and the ends of jobs. */
export async function addHook({ ports }: TestEnvironment, receiver: Receiver): Promise<WebhookId> {
  const id = ids.next<WebhookId>();
  receiver.secret = newWebhookSecret();
  const { secretBox } = webhooksWith([WEBHOOK_SECRET]);
  const secret = secretBox?.seal({ tenantId: DEFAULT_TENANT, id }, receiver.secret) ?? '';
  const events = ['job.started', 'job.finished'] as const;
  const webhook = {
    id,
    tenantId: DEFAULT_TENANT,
    url: receiver.url,
    events,
    filter: null,
    status: 'active',
    secret,
  } as const;
  const made = await perform(ports, makeWebhook(webhook));
  if (made.kind === 'refused') throw new Error(made.message);
  return id;
}
