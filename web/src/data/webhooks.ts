/** Queries for webhooks and their deliveries, and what is done with them. */
import { queryOptions } from '@tanstack/react-query';
import type { Webhook } from 'nightshift/client';
import { client } from './client.ts';
import { everyMs } from './live/changes.ts';
import { keys } from './query/keys.ts';

export function webhooksQuery() {
  return queryOptions({
    queryKey: keys.webhooks,
    queryFn: ({ signal }) => client.webhooks.list({ limit: 200 }, { signal }).all(),
    refetchInterval: () => everyMs(5_000),
  });
}

/** The newest ones. */
export function deliveriesQuery(id: string) {
  return queryOptions({
    queryKey: keys.deliveries(id),
    queryFn: ({ signal }) => client.webhooks.deliveries(id, { limit: 50 }, { signal }).page(),
    refetchInterval: () => Math.min(everyMs(3_000), 10_000),
  });
}

export function deliveryQuery(id: string, deliveryId: string) {
  return queryOptions({
    queryKey: keys.delivery(id, deliveryId),
    queryFn: ({ signal }) => client.webhooks.delivery(id, deliveryId, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? 1_000 : false),
  });
}

export function setWebhookStatus({ id, status }: Pick<Webhook, 'id' | 'status'>) {
  return client.webhooks.update(id, { status });
}

export function testWebhook(id: string) {
  return client.webhooks.test(id);
}

export function retryDelivery({ id, deliveryId }: { id: string; deliveryId: string }) {
  return client.webhooks.retry(id, deliveryId);
}
