/** One line for every request: ids, route, status and time. Never a body, a header or a query. */
import type { App } from './ports.ts';

export function logRequests(app: App): void {
  app.addHook('onResponse', async (request, reply) => {
    const { method, tenantId, routeOptions } = request;
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    const line = { method, route: routeOptions.url ?? null, status: reply.statusCode, ms, tenant: tenantId };
    if (routeOptions.config.access === 'open') request.log.debug(line, 'request');
    else request.log.info(line, 'request');
  });
}
