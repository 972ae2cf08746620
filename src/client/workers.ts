/** Workers and roles. */
import { pagesOf } from './pages.ts';
import type { CreateWorker, Operations, PatchWorker, PostMessage, RoleDefinition } from './schema.ts';
import type { Request, RequestOptions } from './transport.ts';

export function workerCalls(request: Request) {
  return {
    create: (body: CreateWorker, options?: RequestOptions) => request('POST', '/api/workers', { body, ...options }),
    get: (id: string, options?: RequestOptions) => request('GET', '/api/workers/{id}', { path: { id }, ...options }),
    list: (query: Operations['GET /api/workers']['query'] = {}, options?: RequestOptions) =>
      pagesOf((more) => request('GET', '/api/workers', { query: { ...query, ...more }, ...options })),
    update: (id: string, body: PatchWorker, options?: RequestOptions) =>
      request('PATCH', '/api/workers/{id}', { path: { id }, body, ...options }),
    /** Deletes the worker permanently, with its context and the workers below it. */
    delete: (id: string, options?: RequestOptions) =>
      request('DELETE', '/api/workers/{id}', { path: { id }, ...options }),
    /** Cancels jobs and refuses inputs until `start`. */
    stop: (id: string, options?: RequestOptions) =>
      request('POST', '/api/workers/{id}/stop', { path: { id }, ...options }),
    start: (id: string, options?: RequestOptions) =>
      request('POST', '/api/workers/{id}/start', { path: { id }, ...options }),
    tree: (id: string, query: Operations['GET /api/workers/{id}/tree']['query'] = {}, options?: RequestOptions) =>
      request('GET', '/api/workers/{id}/tree', { path: { id }, query, ...options }),
    /** Posts an input to the context of the worker. */
    send: (id: string, input: string | PostMessage, options?: RequestOptions) =>
      request('POST', '/api/workers/{id}/messages', { path: { id }, body: toInput(input), ...options }),
  };
}

export function toInput(input: string | PostMessage): PostMessage {
  return typeof input === 'string' ? { content: input } : input;
}

export function roleCalls(request: Request) {
  return {
    get: (name: string, query: Operations['GET /api/roles/{name}']['query'] = {}, options?: RequestOptions) =>
      request('GET', '/api/roles/{name}', { path: { name }, query, ...options }),
    list: (query: Operations['GET /api/roles']['query'] = {}, options?: RequestOptions) =>
      pagesOf((more) => request('GET', '/api/roles', { query: { ...query, ...more }, ...options })),
    /** Creates the role, or a new version of it. */
    put: (name: string, body: RoleDefinition, options?: RequestOptions) =>
      request('PUT', '/api/roles/{name}', { path: { name }, body, ...options }),
    delete: (name: string, options?: RequestOptions) =>
      request('DELETE', '/api/roles/{name}', { path: { name }, ...options }),
  };
}
