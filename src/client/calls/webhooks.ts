/** Webhooks and their deliveries. */
import { pagesOf } from '../pages.ts';
import type { CreateWebhook, Operations, PatchWebhook, RotateWebhookSecret } from '../schema.ts';
import type { Request, RequestOptions } from '../transport.ts';

/** What is stored under an `Idempotency-Key` would contain the secret, so these requests are not repeated. */
type OnceOptions = Omit<RequestOptions, 'retries' | 'idempotencyKey'>;

type DeliveryQuery = Operations['GET /api/webhooks/{id}/deliveries']['query'];

export function webhookCalls(request: Request) {
  return {
    /** Only this answer has the secret. It is not repeated after an error: each request creates a webhook. */
    create: (body: CreateWebhook, options?: OnceOptions) =>
      request('POST', '/api/webhooks', { body, ...options, retries: 0 }),
    /** Webhooks, newest first. */
    list: (query: Operations['GET /api/webhooks']['query'] = {}, options?: RequestOptions) =>
      pagesOf((more) => request('GET', '/api/webhooks', { query: { ...query, ...more }, ...options })),
    /** Reads a webhook. */
    get: (id: string, options?: RequestOptions) => request('GET', '/api/webhooks/{id}', { path: { id }, ...options }),
    /** Changes it. `status`: enables or disables it. */
    update: (id: string, body: PatchWebhook, options?: RequestOptions) =>
      request('PATCH', '/api/webhooks/{id}', { path: { id }, body, ...options }),
    /** Deletes a webhook and its deliveries. */
    delete: (id: string, options?: RequestOptions) =>
      request('DELETE', '/api/webhooks/{id}', { path: { id }, ...options }),
    /** Replaces the secret, which only this answer has. Not repeated after an error. */
    rotate: (id: string, body: RotateWebhookSecret = {}, options?: OnceOptions) =>
      request('POST', '/api/webhooks/{id}/rotate', { path: { id }, body, ...options, retries: 0 }),
    /** Sends a test event; read its `delivery` to see how it went. */
    test: (id: string, options?: RequestOptions) =>
      request('POST', '/api/webhooks/{id}/test', { path: { id }, ...options }),
    /** Its deliveries, newest first, without bodies. They are kept for 30 days. */
    deliveries: (id: string, query: DeliveryQuery = {}, options?: RequestOptions) =>
      pagesOf((more) =>
        request('GET', '/api/webhooks/{id}/deliveries', { path: { id }, query: { ...query, ...more }, ...options }),
      ),
    /** With the bodies of the request and of the last response. */
    delivery: (id: string, deliveryId: string, options?: RequestOptions) =>
      request('GET', '/api/webhooks/{id}/deliveries/{delivery_id}', {
        path: { id, delivery_id: deliveryId },
        ...options,
      }),
    /** Sends a delivery again. */
    retry: (id: string, deliveryId: string, options?: RequestOptions) =>
      request('POST', '/api/webhooks/{id}/deliveries/{delivery_id}/retry', {
        path: { id, delivery_id: deliveryId },
        ...options,
      }),
  };
}
