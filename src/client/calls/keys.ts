/** API keys. */
import { pagesOf } from '../pages.ts';
import type { CreateApiKey, Operations, RotateApiKey } from '../schema.ts';
import type { Request, RequestOptions } from '../transport.ts';

/** What is stored under an `Idempotency-Key` would contain the key, so these requests are not repeated. */
type OnceOptions = Omit<RequestOptions, 'retries' | 'idempotencyKey'>;

export function keyCalls(request: Request) {
  return {
    /** Only this answer has the key. It is not repeated after an error: each request creates a key. */
    create: (body: CreateApiKey, options?: OnceOptions) =>
      request('POST', '/api/keys', { body, ...options, retries: 0 }),
    /** API keys, newest first, without what is secret. */
    list: (query: Operations['GET /api/keys']['query'] = {}, options?: RequestOptions) =>
      pagesOf((more) => request('GET', '/api/keys', { query: { ...query, ...more }, ...options })),
    /** Ends the key, its sessions and its event streams within a second. */
    revoke: (id: string, options?: RequestOptions) => request('DELETE', '/api/keys/{id}', { path: { id }, ...options }),
    /** Creates a key in place of another one, which stays valid for `overlap_s`. Not repeated after an error. */
    rotate: (id: string, body: RotateApiKey = {}, options?: OnceOptions) =>
      request('POST', '/api/keys/{id}/rotate', { path: { id }, body, ...options, retries: 0 }),
  };
}
