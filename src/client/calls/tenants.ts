/** Tenants, for the operator. */
import { pagesOf } from '../pages.ts';
import type { CreateTenant, Operations, PatchTenant } from '../schema.ts';
import type { Request, RequestOptions } from '../transport.ts';

export function tenantCalls(request: Request) {
  return {
    /** Creates a tenant. A key of a tenant that does not exist creates it, too. */
    create: (body: CreateTenant, options?: RequestOptions) => request('POST', '/api/tenants', { body, ...options }),
    /** Reads a tenant with its limits. */
    get: (name: string, options?: RequestOptions) =>
      request('GET', '/api/tenants/{name}', { path: { name }, ...options }),
    /** Tenants, sorted by name. */
    list: (query: Operations['GET /api/tenants']['query'] = {}, options?: RequestOptions) =>
      pagesOf((more) => request('GET', '/api/tenants', { query: { ...query, ...more }, ...options })),
    /** Suspends it, lets it go on, changes its limits, or what its workers may use. */
    update: (name: string, body: PatchTenant, options?: RequestOptions) =>
      request('PATCH', '/api/tenants/{name}', { path: { name }, body, ...options }),
    /** Begins to delete it with all its data. `get` is refused with `not_found` when all is deleted. */
    delete: (name: string, options?: RequestOptions) =>
      request('DELETE', '/api/tenants/{name}', { path: { name }, ...options }),
  };
}
