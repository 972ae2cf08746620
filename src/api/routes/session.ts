/** Signing in and out: a browser gives a key once, and keeps a cookie that no script can read. */
import type { FastifyRequest } from 'fastify';
import { refuse } from '../../core/errors.ts';
import type { Gate } from '../access.ts';
import type { App } from '../ports.ts';
import { RequestRefused } from '../problem.ts';
import { Empty, ref } from '../schemas/common.ts';
import { problems } from '../schemas/problem.ts';
import { BeginSession, Session } from '../schemas/session.ts';
import { SESSION_COOKIE, SESSION_S, cookieOptions } from '../session.ts';

const tags = ['system'];
const config = { access: 'keyless' } as const;

/** Of a body that holds a key: it is read from anybody. */
const KEY_BYTES = 4 * 1024;

export function sessionRoutes(app: App, gate: Gate): void {
  getSessionRoute(app, gate);
  beginSessionRoute(app, gate);
  endSessionRoute(app);
}

function getSessionRoute(app: App, gate: Gate): void {
  app.get(
    '/api/session',
    {
      config,
      schema: {
        summary: 'Whether a key is needed here, and whether this browser is signed in',
        operationId: 'getSession',
        tags,
        security: [],
        response: { 200: ref(Session), ...problems() },
      },
    },
    async (request, reply) => {
      const access = gate.admit(request);
      reply.header('cache-control', 'no-store');
      return access.kind === 'tenant'
        ? { auth: gate.auth, signed_in: true, tenant: access.tenantId }
        : { auth: gate.auth, signed_in: false, tenant: null };
    },
  );
}

function beginSessionRoute(app: App, gate: Gate): void {
  app.post(
    '/api/session',
    {
      config,
      bodyLimit: KEY_BYTES,
      schema: {
        summary:
          'Sign a browser in: sets a cookie that stands for the key; where none is needed, does nothing',
        operationId: 'beginSession',
        tags,
        security: [],
        body: ref(BeginSession),
        response: { 204: Empty, ...problems(401) },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store').code(204);
      if (gate.auth === 'none') return null;
      const value = gate.signIn(request.body.key);
      if (value === null) throw new RequestRefused(refuse('unauthorized', 'This key is not known here.'));
      reply.setCookie(SESSION_COOKIE, value, { ...cookieOptions(isSecure(request)), maxAge: SESSION_S });
      return null;
    },
  );
}

function endSessionRoute(app: App): void {
  app.delete(
    '/api/session',
    {
      config,
      schema: {
        summary: 'Sign this browser out',
        operationId: 'endSession',
        tags,
        security: [],
        response: { 204: Empty, ...problems() },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store').code(204);
      reply.clearCookie(SESSION_COOKIE, cookieOptions(isSecure(request)));
      return null;
    },
  );
}

/** Whether the browser speaks TLS, to a proxy as a rule. Whoever lies about it only keeps a cookie of their own from plain HTTP. */
function isSecure({ headers }: FastifyRequest): boolean {
  const [forwarded = ''] = String(headers['x-forwarded-proto'] ?? '').split(',');
  return forwarded.trim() === 'https' || (headers.origin ?? '').startsWith('https:');
}
