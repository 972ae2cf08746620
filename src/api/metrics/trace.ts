/**
 * A span for each POST of the API, and the place of every request in a trace: below the active span of the surrounding
 * service, otherwise below the caller that sent `traceparent`.
 */
import { parseTraceParent, type TraceParent } from '../../core/tracing/trace-parent.ts';
import type { Span, Tracing } from '../../core/tracing/tracing.ts';
import type { FastifyRequest } from 'fastify';
import type { App } from '../server/ports.ts';

export function traceRequests(app: App, tracing: Tracing): void {
  const spans = new WeakMap<FastifyRequest, Span>();
  app.decorateRequest('traceParent', null);
  app.addHook('onRequest', async (request) => {
    const { method, routeOptions, is404 } = request;
    const route = routeOptions.url;
    if (method !== 'POST' || is404 || route === undefined) return;
    const span = tracing.start(`POST ${route}`, {
      kind: 'server',
      parent: tracing.active() ?? callerOf(request),
      attributes: { 'http.request.method': method, 'http.route': route },
    });
    spans.set(request, span);
    request.traceParent = span.traceParent;
  });
  app.addHook('onResponse', async (request, reply) => {
    const span = spans.get(request);
    if (span === undefined) return;
    const { statusCode } = reply;
    span.set({
      'http.response.status_code': statusCode,
      // Requests of the operator, and those that need no key, belong to none.
      ...(request.scopes !== null && { 'nightshift.tenant': request.tenantName }),
      ...(request.madeJob !== null && { 'nightshift.job.id': request.madeJob }),
    });
    if (statusCode >= 500) span.fail(String(statusCode));
    span.end();
  });
}

/** Null: the header is missing or invalid. */
function callerOf({ headers }: FastifyRequest): TraceParent | null {
  const { traceparent } = headers;
  return typeof traceparent === 'string' ? parseTraceParent(traceparent) : null;
}
