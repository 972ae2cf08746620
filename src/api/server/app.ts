/**
 * Assembles the application without listening: access, parsing, validation, errors, routes. This file has the rules for
 * every request; routes/ has the routes.
 *
 * `JSON.stringify` writes responses, not compiled serializers: content is returned unchanged (lone surrogates too).
 * Tests check every response against its schema.
 */
import { randomUUID } from 'node:crypto';
import cookies from '@fastify/cookie';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { LogController, type FastifyReply, type FastifyRequest } from 'fastify';
import { INVALID_KEY } from '../../core/access/api-keys.ts';
import { TENANT_INACTIVE } from '../../core/access/tenant.ts';
import { refuse } from '../../core/errors.ts';
import { DEFAULT_TENANT, DEFAULT_TENANT_NAME } from '../../core/ids.ts';
import { NO_LIMITS, limitsOf } from '../../core/access/quotas.ts';
import { limitUploads, openQuotas, type Quotas } from '../quotas/quotas.ts';
import { openRooms } from '../quotas/room.ts';
import { openAccessControl, type AccessControl } from '../access/access.ts';
import { openEmbeddedAccess } from '../embedded/access.ts';
import { prefixUrls } from '../embedded/prefix-urls.ts';
import { allowOrigins } from '../access/cors.ts';
import { isForOperator, isForOperatorOnly, requireScope, scopeOf } from '../access/scopes.ts';
import { requireReach } from './token-reach.ts';
import { BODY_BYTES, discardRest, readJsonBodies } from '../request/body.ts';
import { answerClientError } from './client-error.ts';
import { isNavigation, serveConsole, showNotFound } from './console.ts';
import { forTenant } from '../../db/connection/tenant-setting.ts';
import { findActive } from '../../db/write/tenants/tenants.ts';
import { within } from './deadline.ts';
import { serveDocs } from './docs.ts';
import { toFailure } from '../response/failure.ts';
import { logRequests } from './log.ts';
import { refuseOtherMethods } from './methods.ts';
import { notThere } from './files.ts';
import { compressResponses } from '../response/compress.ts';
import { measureRequests, openMetrics, type Metrics } from '../metrics/metrics.ts';
import { documentRoutes } from './openapi.ts';
import type { ApiPorts, App, AppPorts } from './ports.ts';
import { RequestRefused, refused, sendProblem } from '../response/problem.ts';
import { addRoutes } from '../routes/routes.ts';
import { tellChanges } from '../routes/system/changes.ts';
import { componentBucket } from '../schemas/components.ts';
import { LONGEST_WAIT_MS } from '../schemas/jobs/job.ts';
import { openStreams, type Streams } from '../response/streams.ts';
import { traceRequests } from '../metrics/trace.ts';
import { createValidator } from '../request/validation.ts';

/** Timeout for receiving a request, in milliseconds. */
const UPLOAD_MS = 120_000;

export async function createApp(given: AppPorts): Promise<App> {
  const ports: ApiPorts = { ...given, rooms: openRooms(given.database) };
  const app: App = Fastify({
    loggerInstance: ports.logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    bodyLimit: BODY_BYTES,
    requestTimeout: UPLOAD_MS,
    // `x-forwarded-for` from any other address is ignored: `request.ip` is then the address of the connection.
    trustProxy: ports.config.trustedProxies.length > 0 && [...ports.config.trustedProxies],
    return503OnClosing: false,
    schemaController: { bucket: componentBucket },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => void answerFailure(error, request, reply),
  }).withTypeProvider<TypeBoxTypeProvider>();
  const streams = openStreams(ports.config.maxStreams);
  const quotas = openQuotas(ports.requestRates);
  const metrics = openMetrics({ ...ports, streams });

  app.setValidatorCompiler(createValidator());
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  readJsonBodies(app);
  takeNoBodyAsEmpty(app);
  app.setErrorHandler((error, request, reply) => {
    noteExceeded(metrics, error, request);
    return answerFailure(error, request, reply);
  });
  const { mount } = ports;
  const explain = showNotFound(ports.consoleFolder);
  app.setNotFoundHandler((request, reply) =>
    mount === null && isForPeople(request) ? explain(request, reply) : notThere(reply),
  );

  await app.register(cookies);
  await allowOrigins(app, ports.config.corsOrigins);
  const { everywhere } = ports.database;
  const accessControl =
    mount === null
      ? openAccessControl(ports.config, everywhere)
      : openEmbeddedAccess(ports.config, everywhere, mount.embedded);
  guard(app, accessControl, ports, { streams, quotas });
  limitUploads(app);
  boundHandlers(app, ports.config.requestMs);
  logRequests(app);
  traceRequests(app, ports.telemetry.tracing);
  measureRequests(app, metrics);
  tellChanges(app, ports);
  compressResponses(app);
  const refuseOthers = refuseOtherMethods(app);
  await documentRoutes(app, mount?.path);
  if (mount !== null) prefixUrls(app, mount.path);
  addRoutes(app, ports, { accessControl, metrics, streams, quotas });
  if (mount === null) {
    await serveDocs(app, ports.referenceFolder);
    await serveConsole(app, ports.consoleFolder);
  }
  refuseOthers();
  return app;
}

/** Only tenants with limits, or with keys that have some, have such series. */
function noteExceeded(metrics: Metrics, error: unknown, { tenantName }: FastifyRequest): void {
  if (!(error instanceof RequestRefused) || error.refusal.code !== 'quota_exceeded') return;
  metrics.quotaExceeded(tenantName, error.refusal.param ?? '');
}

async function answerFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { refusal, status, expected } = toFailure(error, request.routeOptions.bodyLimit);
  if (!expected) request.log.error({ err: error }, 'request failed with an unexpected error');
  else if (status >= 500) request.log.warn({ err: error }, 'request could not be served');
  // Reads the rest of the body first: a client that is still sending would not read the response.
  if (status === 413 || refusal.param === 'upload_mb') await discardRest(request.raw);
  return sendProblem(reply, refusal, status);
}

/**
 * Checks access before the body is read. While the application closes, refuses new requests and ends waits and streams.
 */
function guard(
  app: App,
  accessControl: AccessControl,
  { streamHub, config, database }: ApiPorts,
  { streams, quotas }: { streams: Streams; quotas: Quotas },
): void {
  let closing = false;
  const reach = (request: FastifyRequest): Promise<void> =>
    forTenant(request.tenantId, () => within(config.requestMs, requireReach(database.db, request)));
  app.decorateRequest('tenantId', DEFAULT_TENANT);
  app.decorateRequest('tenantName', DEFAULT_TENANT_NAME);
  app.decorateRequest('scopes', null);
  app.decorateRequest('allow');
  app.decorateRequest('limits');
  app.decorateRequest('keyLimits');
  app.decorateRequest('isOperator', false);
  app.decorateRequest('credential', null);
  app.decorateRequest('key', null);
  app.decorateRequest('token', null);
  app.decorateRequest('user', null);
  app.addHook('onRequest', async (request, reply) => {
    request.limits = NO_LIMITS;
    request.keyLimits = NO_LIMITS;
    reply.headers({ 'x-request-id': request.id, ...SAFELY, ...(isData(request.url) ? NOT_KEPT : {}) });
    if (hasTwoHosts(request.raw.rawHeaders)) return sendProblem(reply, TWO_HOSTS, 400);
    if (closing) throw refused('unavailable', 'This API process is shutting down. Try again.');
    const { access: needs } = request.routeOptions.config;
    if (needs === 'open') return undefined;
    if (needs === 'keyless' || isForPeople(request)) {
      const objection = accessControl.objection(request);
      if (objection !== null) throw new RequestRefused(objection);
      return undefined;
    }
    const access = await within(config.requestMs, accessControl.admit(request));
    if (access.kind === 'refused') throw new RequestRefused(access);
    request.isOperator = access.kind === 'operator' || (access.kind === 'tenant' && access.isOperator);
    request.credential = access.credential;
    if (access.kind === 'metrics') {
      if (needs !== 'metrics') throw refused('forbidden', 'The key of NIGHTSHIFT_METRICS_KEY opens metrics only.');
      return undefined;
    }
    if (isForOperatorOnly(needs) && !request.isOperator)
      throw refused('forbidden', 'This route needs the scope operator. Use the key of NIGHTSHIFT_ADMIN_KEY.');
    if (needs === undefined && !request.is404) throw new Error(`The route ${request.url} declares no access.`);
    if (access.kind === 'tenant') {
      request.tenantId = access.tenantId;
      request.tenantName = access.tenantName;
      request.scopes = access.scopes;
      request.allow = access.allow;
      request.limits = limitsOf(access.limits, config.tenantLimits);
      request.keyLimits = limitsOf(access.keyLimits, NO_LIMITS);
      request.key = access.key;
      request.token = access.token;
      request.user = access.user;
      // What the operator may do is never refused, not even where no key is needed.
      if (!isForOperatorOnly(needs)) await within(config.requestMs, quotas.admit(request, reply));
      const scope = scopeOf(needs);
      if (scope !== null) requireScope(request, scope, `${request.method} ${request.routeOptions.url ?? ''}`);
      if (access.token !== null) await reach(request);
    } else if (!isForOperator(needs)) {
      throw refused('forbidden', 'The admin key has no access to the data of a tenant. Use a key of the tenant.');
    }
    return undefined;
  });
  // After the body was read: its events are not in the context of the request.
  app.addHook('preValidation', ({ isOperator, scopes, tenantId, routeOptions }, _, done) => {
    if (isOperator || routeOptions.config.access === 'metrics') forTenant(null, done);
    else if (scopes !== null) forTenant(tenantId, done);
    else done();
  });
  // The credential may have ended, or its tenant, while the body arrived, or while the handler waited.
  const checkAgain = async ({ credential, scopes, tenantId }: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (credential === null || reply.elapsedTime <= LONG_MS) return;
    const { db } = database.everywhere;
    if (await accessControl.isValid(db, credential)) return;
    const isInactive = scopes !== null && !(await findActive(db, [tenantId])).has(tenantId);
    throw new RequestRefused(isInactive ? TENANT_INACTIVE : INVALID_KEY);
  };
  app.addHook('preHandler', checkAgain);
  app.addHook('preSerialization', async (request, reply, payload) => {
    // The request that makes the first key, or replaces its own, is the last one with its credential.
    if (request.madeKey === null) await checkAgain(request, reply);
    return payload;
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

/** After this time a credential is looked up again before the handler, and before the response, in milliseconds. */
const LONG_MS = 500;

/** Browsers must not guess another content type. */
const SAFELY = { 'x-content-type-options': 'nosniff' };
/** Responses belong to one tenant and change often, so no cache may store them. A route can override this. */
const NOT_KEPT = { 'cache-control': 'no-store' };

function isData(url: string): boolean {
  return url.startsWith('/api/') || url.startsWith('/metrics');
}

/** A browser navigates to a page that does not exist. It gets the HTML page without a key. */
function isForPeople(request: FastifyRequest): boolean {
  const { url } = request;
  return request.is404 && isNavigation(request) && !isData(url) && !url.startsWith('/assets/');
}

const TWO_HOSTS = refuse('invalid_request', 'The request has more than one Host header. Send exactly one.');

/** Servers and proxies disagree on which of two `Host` headers counts. RFC 9112, section 3.2. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  // Names and values alternate.
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host').length > 1;
}

/** Treats a missing body as `{}`, so that validation names the missing fields. */
function takeNoBodyAsEmpty(app: App): void {
  app.addHook('preValidation', async (request) => {
    if (request.body === undefined && request.routeOptions.schema?.body !== undefined) request.body = {};
  });
}

/**
 * Answers 503 when a handler exceeds its timeout: `requestMs`, plus the route's `timeoutMs`, plus the client's
 * `wait_ms`.
 */
function boundHandlers(app: App, requestMs: number): void {
  app.decorateRequest('lateAt', Infinity);
  app.addHook('onRoute', (route) => {
    // HEAD runs the handler of GET, which already has the timeout.
    if (route.method === 'HEAD') return;
    const { handler } = route;
    const longest = requestMs + (route.config?.timeoutMs ?? 0);
    route.handler = async function bounded(request, reply) {
      const ms = longest + waitOf(request);
      request.lateAt = performance.now() + ms;
      // A handler that returns nothing sends the reply itself: then `reply` resolves when it is sent.
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
