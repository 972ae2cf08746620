/** Finds webhooks and their deliveries by ids, or by parts of them. */
import type { Client } from '../../client/index.ts';
import { oneLine } from '../terminal/safe.ts';
import { PAGE, pickId } from './pick.ts';

export function findWebhookId(client: Client, named: string): Promise<string> {
  return pickId(named, {
    one: 'webhook',
    where: 'the newest 1,000 webhooks',
    lists: '`nightshift webhooks --json`',
    rows: () => client.webhooks.list({ limit: PAGE }),
    idOf: ({ id }) => id,
    about: ({ url }) => oneLine(url),
  });
}

export function findDeliveryId(client: Client, webhookId: string, named: string): Promise<string> {
  return pickId(named, {
    one: 'delivery',
    where: 'the newest 1,000 deliveries of the webhook',
    lists: '`nightshift webhooks deliveries <id> --json`',
    rows: () => client.webhooks.deliveries(webhookId, { limit: PAGE }),
    idOf: ({ id }) => id,
    about: ({ type, status }) => `${type}, ${status}`,
  });
}
