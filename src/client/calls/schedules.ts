/** Schedules, and their runs. */
import { pagesOf } from '../pages.ts';
import type { CreateSchedule, Operations, PatchSchedule } from '../schema.ts';
import type { Request, RequestOptions } from '../transport.ts';

type RunsQuery = Operations['GET /api/schedules/{id}/runs']['query'];

export function scheduleCalls(request: Request) {
  return {
    /** Creates a schedule, which posts an input at certain times. */
    create: (body: CreateSchedule, options?: RequestOptions) => request('POST', '/api/schedules', { body, ...options }),
    /** Reads a schedule. */
    get: (id: string, options?: RequestOptions) => request('GET', '/api/schedules/{id}', { path: { id }, ...options }),
    /** Schedules, newest first. */
    list: (query: Operations['GET /api/schedules']['query'] = {}, options?: RequestOptions) =>
      pagesOf((more) => request('GET', '/api/schedules', { query: { ...query, ...more }, ...options })),
    /** Changes it; `{paused: true}` pauses it. */
    update: (id: string, body: PatchSchedule, options?: RequestOptions) =>
      request('PATCH', '/api/schedules/{id}', { path: { id }, body, ...options }),
    /** Deletes its run log too. Jobs that it started go on. */
    delete: (id: string, options?: RequestOptions) =>
      request('DELETE', '/api/schedules/{id}', { path: { id }, ...options }),
    /** Posts its input now. The next run does not change. */
    runNow: (id: string, options?: RequestOptions) =>
      request('POST', '/api/schedules/{id}/run', { path: { id }, ...options }),
    /** Its run log, newest first. */
    runs: (id: string, query: RunsQuery = {}, options?: RequestOptions) =>
      pagesOf((more) =>
        request('GET', '/api/schedules/{id}/runs', { path: { id }, query: { ...query, ...more }, ...options }),
      ),
  };
}
