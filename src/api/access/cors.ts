/**
 * Cross-origin requests of web pages: from the exact origins that the operator lists, with a key or a token in
 * `Authorization`. Cookies do not count there: browsers are told to send none, and access control refuses them.
 */
import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { App } from '../server/ports.ts';

const OPTIONS: FastifyCorsOptions = {
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  allowedHeaders: [
    'authorization',
    'content-type',
    'idempotency-key',
    'if-match',
    'last-event-id',
    'traceparent',
    'tracestate',
  ],
  exposedHeaders: [
    'content-disposition',
    'etag',
    'location',
    'ratelimit',
    'ratelimit-policy',
    'retry-after',
    'x-request-id',
    'x-should-retry',
  ],
  credentials: false,
  /** How long a browser may remember the answer to a preflight, in seconds. */
  maxAge: 600,
};

/** Call it before access control is added: a preflight has no credential. */
export async function allowOrigins(app: App, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return;
  // The plugin adds a route for preflights of addresses without one.
  app.addHook('onRoute', (route) => {
    if (route.url === '*' && route.method === 'OPTIONS') route.config = { ...route.config, access: 'keyless' };
  });
  await app.register(cors, {
    delegator: ({ url, headers: { origin = '' } }, answer) => {
      const isAllowed = url.startsWith('/api/') && origins.includes(origin);
      answer(null, isAllowed ? { ...OPTIONS, origin: [origin] } : { origin: false });
    },
  });
}
