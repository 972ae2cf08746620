/** Worker processes, for the operator. */
import { pagesOf } from '../pages.ts';
import type { Operations } from '../schema.ts';
import type { Request, RequestOptions } from '../transport.ts';

export function processCalls(request: Request) {
  return {
    /** Worker processes, newest first: those that are alive, and those that ended in the last days. */
    list: (query: Operations['GET /api/processes']['query'] = {}, options?: RequestOptions) =>
      pagesOf((more) => request('GET', '/api/processes', { query: { ...query, ...more }, ...options })),
    /** It begins no run until it is resumed; its runs go on to the end of their jobs. */
    pause: (id: string, options?: RequestOptions) =>
      request('POST', '/api/processes/{id}/pause', { path: { id }, ...options }),
    /** A paused process begins runs again. */
    resume: (id: string, options?: RequestOptions) =>
      request('POST', '/api/processes/{id}/resume', { path: { id }, ...options }),
    /** It releases its runs at their next step, for other processes, and then ends. */
    drain: (id: string, options?: RequestOptions) =>
      request('POST', '/api/processes/{id}/drain', { path: { id }, ...options }),
  };
}
