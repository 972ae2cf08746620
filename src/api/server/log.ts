/** Logs one line for each request: ids, route, status and duration. Never a body, a header or a query. */
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import type { App } from './ports.ts';

/** The log field for `:id`, by the first segment of the path after /api. */
const NAMED: Readonly<Record<string, string>> = {
  workers: 'worker_id',
  contexts: 'context_id',
  jobs: 'job_id',
  keys: 'api_key_id',
};

/** Probes, sign-in, files of the console, and what operators read: most of these requests are periodic. */
const OFTEN: ReadonlySet<FastifyContextConfig['access']> = new Set(['open', 'keyless', 'operator', 'read_or_operator']);

export function logRequests(app: App): void {
  app.decorateRequest('madeJob', null);
  app.decorateRequest('madeKey', null);
  app.decorateRequest('madeToken', null);
  app.addHook('onResponse', async (request, reply) => {
    if (!isStream(request, reply)) logRequest(request, reply);
  });
}

/** Whether the response is a stream. The route logs streams when they close. */
export function isStream({ method, routeOptions }: FastifyRequest, { statusCode }: FastifyReply): boolean {
  return method !== 'HEAD' && routeOptions.config.stream === true && statusCode === 200;
}

export function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { method, tenantName, routeOptions, credential, madeJob, madeKey, madeToken } = request;
  const route = routeOptions.url ?? null;
  const ms = Math.round(reply.elapsedTime * 10) / 10;
  const line = {
    method,
    route,
    status: reply.statusCode,
    ms,
    tenant: tenantName,
    ...idsOf(route, request.params),
  };
  const whole = {
    ...line,
    ...(credential?.kind === 'key' ? { by_api_key_id: credential.id } : {}),
    ...(madeJob === null ? {} : { job_id: madeJob }),
    ...(credential?.kind === 'token' ? { by_token_id: credential.token.id } : {}),
    ...(madeKey === null ? {} : { made_api_key_id: madeKey }),
    ...(madeToken === null ? {} : { made_token_id: madeToken }),
  };
  if (OFTEN.has(routeOptions.config.access)) request.log.debug(whole, 'request');
  else request.log.info(whole, 'request');
}

function idsOf(route: string | null, params: unknown): Record<string, string> {
  const name = NAMED[route?.split('/')[2] ?? ''];
  if (name === undefined || typeof params !== 'object' || params === null || !('id' in params)) return {};
  return typeof params.id === 'string' ? { [name]: params.id.slice(0, 64) } : {};
}
