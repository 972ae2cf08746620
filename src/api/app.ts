/**
 * The application, assembled and not listening: access, parsing, validation, errors, routes. What holds for every request
 * is here; what a route does is in routes/.
 *
 * Answers are written by `JSON.stringify`, not by compiled serializers: content comes back to the letter (lone surrogates
 * too), and tests hold every answer against its schema.
 */
import { randomUUID } from 'node:crypto';
import cookies from '@fastify/cookie';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { LogController } from 'fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../core/errors.ts';
import { DEFAULT_TENANT } from '../core/ids.ts';
import { openAccessControl } from './access.ts';
import type { AccessControl } from './access.ts';
import { BODY_BYTES, discardRest, readJsonBodies } from './body.ts';
import { answerClientError } from './client-error.ts';
import { isNavigation, serveConsole, showNotFound } from './console.ts';
import { within } from './deadline.ts';
import { serveDocs } from './docs.ts';
import { toFailure } from './failure.ts';
import { logRequests } from './log.ts';
import { refuseOtherMethods } from './methods.ts';
import { notThere } from './files.ts';
import { measureRequests, openMetrics } from './metrics.ts';
import { documentRoutes } from './openapi.ts';
import type { ApiPorts, App } from './ports.ts';
import { RequestRefused, sendProblem } from './problem.ts';
import { addRoutes } from './routes/routes.ts';
import { components } from './schemas/components.ts';
import { LONGEST_WAIT_MS } from './schemas/job.ts';
import { openStreams } from './streams.ts';
import type { Streams } from './streams.ts';
import { createValidator } from './validation.ts';

/** How long a client may take to send its request, in milliseconds. */
const UPLOAD_MS = 120_000;

export async function createApp(ports: ApiPorts): Promise<App> {
  const app: App = Fastify({
    loggerInstance: ports.logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    bodyLimit: BODY_BYTES,
    requestTimeout: UPLOAD_MS,
    // `x-forwarded-for` from any other address is ignored: `request.ip` is then the address of the connection.
    trustProxy: ports.config.trustedProxies.length > 0 && [...ports.config.trustedProxies],
    return503OnClosing: false,
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => void answerFailure(error, request, reply),
  }).withTypeProvider<TypeBoxTypeProvider>();
  const streams = openStreams(ports.config.maxStreams);
  const metrics = openMetrics({ ...ports, streams });

  for (const component of components) app.addSchema(component);
  app.setValidatorCompiler(createValidator());
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  readJsonBodies(app);
  takeNoBodyAsEmpty(app);
  app.setErrorHandler(answerFailure);
  const explain = showNotFound(ports.consoleFolder);
  app.setNotFoundHandler((request, reply) =>
    isForPeople(request) ? explain(request, reply) : notThere(reply),
  );

  await app.register(cookies);
  const accessControl = openAccessControl(ports.config, ports.database);
  guard(app, accessControl, ports, streams);
  boundHandlers(app, ports.config.requestMs);
  logRequests(app);
  measureRequests(app, metrics);
  const refuseOthers = refuseOtherMethods(app);
  await documentRoutes(app, ports.config);
  addRoutes(app, ports, { accessControl, metrics, streams });
  await serveDocs(app);
  await serveConsole(app, ports.consoleFolder);
  refuseOthers();
  return app;
}

async function answerFailure(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { refusal, status, expected } = toFailure(error, request.routeOptions.bodyLimit);
  if (!expected) request.log.error({ err: error }, 'a request failed');
  else if (status >= 500) request.log.warn({ err: error }, 'a request could not be served');
  // A client that is still sending would be cut off before it hears why.
  if (status === 413) await discardRest(request.raw);
  return sendProblem(reply, refusal, status);
}

/** Access is judged before anything is read. Once the application closes, nothing new begins, and who waits is told. */
function guard(
  app: App,
  accessControl: AccessControl,
  { streamHub, config }: ApiPorts,
  streams: Streams,
): void {
  let closing = false;
  app.decorateRequest('tenantId', DEFAULT_TENANT);
  app.decorateRequest('isOperator', false);
  app.decorateRequest('session', null);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-request-id': request.id, ...SAFELY, ...(isData(request.url) ? NOT_KEPT : {}) });
    if (hasTwoHosts(request.raw.rawHeaders)) return sendProblem(reply, TWO_HOSTS, 400);
    if (closing) throw new RequestRefused(refuse('unavailable', 'This process is stopping.'));
    const { access: needs } = request.routeOptions.config;
    if (needs === 'open') return undefined;
    if (needs === 'keyless' || isForPeople(request)) {
      const objection = accessControl.objection(request);
      if (objection !== null) throw new RequestRefused(objection);
      return undefined;
    }
    const access = await within(config.requestMs, accessControl.admit(request));
    if (access.kind === 'refused') throw new RequestRefused(access);
    request.isOperator = access.kind === 'operator' || access.isOperator;
    if (needs === 'operator' && !request.isOperator) throw operatorOnly();
    if (access.kind === 'tenant') {
      request.tenantId = access.tenantId;
      request.session = access.session;
    } else if (needs !== 'operator' && needs !== 'tenant_or_operator') {
      throw tenantOnly();
    }
    return undefined;
  });
  app.addHook('onSend', async (_, reply) => {
    if (closing) reply.header('connection', 'close');
  });
  app.addHook('preClose', async () => {
    closing = true;
    streamHub.close();
    streams.close();
  });
}

/** An answer is of the type that it says, whatever it holds. */
const SAFELY = { 'x-content-type-options': 'nosniff' };
/** What is answered is of one tenant, and of now: nothing on the way keeps it. A route may say otherwise. */
const NOT_KEPT = { 'cache-control': 'no-store' };

function isData(url: string): boolean {
  return url.startsWith('/api/') || url.startsWith('/metrics');
}

/** Somebody went to a page that does not exist: nothing is told that needs a key. */
function isForPeople(request: FastifyRequest): boolean {
  const { url } = request;
  return request.is404 && isNavigation(request) && !isData(url) && !url.startsWith('/assets/');
}

const TWO_HOSTS = refuse('invalid_request', 'The header `host` is given more than once.');

/** Servers and proxies differ in which of two they take. RFC 9112, section 3.2. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

function operatorOnly(): RequestRefused {
  const how = 'This concerns the whole installation: it needs the key that NIGHTSHIFT_ADMIN_KEY sets.';
  return new RequestRefused(refuse('forbidden', how));
}

function tenantOnly(): RequestRefused {
  const how = 'The admin key sees no data of a tenant: use one of NIGHTSHIFT_API_KEYS.';
  return new RequestRefused(refuse('forbidden', how));
}

/** No body is an empty one: what is missing in it is then told by name. */
function takeNoBodyAsEmpty(app: App): void {
  app.addHook('preValidation', async (request) => {
    if (request.body === undefined && request.routeOptions.schema?.body !== undefined) request.body = {};
  });
}

/** Every handler answers in time, or its request is answered with 503. Who asked to wait, or has much to do, gets that on top. */
function boundHandlers(app: App, requestMs: number): void {
  app.decorateRequest('lateAt', Infinity);
  app.addHook('onRoute', (route) => {
    // HEAD runs the handler of GET, which is bounded already.
    if (route.method === 'HEAD') return;
    const { handler } = route;
    const longest = requestMs + (route.config?.timeoutMs ?? 0);
    route.handler = async function bounded(request, reply) {
      const ms = longest + waitOf(request);
      request.lateAt = performance.now() + ms;
      // One that returns nothing sends by itself: then the reply tells when it is sent.
      const answer: unknown = handler.call(this, request, reply) ?? reply;
      return within(ms, Promise.resolve(answer));
    };
  });
}

/** `wait_ms` of a valid request. */
function waitOf({ query, body }: FastifyRequest): number {
  for (const part of [query, body]) {
    if (typeof part !== 'object' || part === null || !('wait_ms' in part)) continue;
    if (typeof part.wait_ms === 'number') return Math.min(part.wait_ms, LONGEST_WAIT_MS);
  }
  return 0;
}
