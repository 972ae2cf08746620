/** Browser sessions. A browser sends an API key, or the admin key, once and gets a cookie that scripts cannot read. */
import { SCOPES } from '../../../core/access/scopes.ts';
import { TENANT_INACTIVE } from '../../../core/access/tenant.ts';
import type { FastifyRequest } from 'fastify';
import { OPERATOR, toActor, userActor } from '../../access/actor.ts';
import { recordBy } from '../../request/audited.ts';
import type { AccessControl } from '../../access/access.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { RequestRefused } from '../../response/problem.ts';
import { Empty } from '../../schemas/common.ts';
import { ref } from '../../../schema/build.ts';
import { problems } from '../../schemas/problem.ts';
import { BeginSession, Session } from '../../schemas/system/session.ts';
import { cookieFor, type RecordSession } from '../../access/session.ts';
import type { Actor } from '../../../core/access/actor.ts';
import type { SignedInBy } from '../../../db/write/sessions.ts';
import { signInLimits } from '../../access/sign-in-limits.ts';

const tags = ['system'];
const config = { access: 'keyless' } as const;

/** The body limit for sign-in, in bytes. Small, because clients without a key can send this request. */
const KEY_BYTES = 4 * 1024;

export function sessionRoutes(app: App, ports: ApiPorts, accessControl: AccessControl): void {
  getSessionRoute(app, ports, accessControl);
  beginSessionRoute(app, ports, accessControl);
  endSessionRoute(app, ports, accessControl);
}

function getSessionRoute(app: App, { config: { oidc, oidcSettings } }: ApiPorts, accessControl: AccessControl): void {
  const provider = oidc === null ? null : { name: oidcSettings.name ?? new URL(oidc.issuer).host };
  app.get(
    '/api/session',
    {
      config,
      schema: {
        summary: 'Whether the API needs a key, and whether this browser is signed in, with its scopes',
        operationId: 'getSession',
        tags,
        security: [],
        response: { 200: ref(Session) },
      },
    },
    async ({ raw, headers, method, cookies }) => {
      const access = await accessControl.admit({ raw, headers, method, cookies });
      const auth = await accessControl.auth();
      if (access.kind === 'operator') {
        const scopes = ['operator' as const];
        return { auth, signed_in: true, tenant: null, user: null, scopes, oidc: provider };
      }
      // A token is no sign-in, and tells a user nothing about the tenant.
      return access.kind === 'tenant' && access.token === null
        ? {
            auth,
            signed_in: true,
            tenant: access.tenantName,
            user: access.user,
            scopes: SCOPES.filter((scope) => access.scopes.has(scope)),
            oidc: provider,
          }
        : { auth, signed_in: false, tenant: null, user: null, scopes: [], oidc: provider };
    },
  );
}

function beginSessionRoute(app: App, ports: ApiPorts, accessControl: AccessControl): void {
  const limits = signInLimits();
  app.post(
    '/api/session',
    {
      config,
      bodyLimit: KEY_BYTES,
      schema: {
        summary:
          'Sign a browser in, with an API key or the admin key: sets a session cookie. Does nothing if the API needs no key',
        operationId: 'beginSession',
        tags,
        security: [],
        body: ref(BeginSession),
        response: { 204: Empty, ...problems(401, 429) },
      },
    },
    async (request, reply) => {
      reply.code(204);
      if ((await accessControl.auth()) === 'none') return null;
      const limited = await limits.refusal(request.ip);
      if (limited !== null) throw new RequestRefused(limited);
      const signIn = await accessControl.whose(request.body.key);
      if (signIn.kind === 'refused') {
        if (signIn.code === 'unauthorized') await limits.wrong(request.ip);
        throw new RequestRefused(signIn);
      }
      const busy = await limits.begins(signIn.keyId);
      if (busy !== null) throw new RequestRefused(busy);
      const { name, options } = cookieFor(request);
      const session = await signIn.begin(recordSession(ports, request, 'session.started'));
      if (session === null) throw new RequestRefused(TENANT_INACTIVE);
      reply.setCookie(name, session.cookie, { ...options, maxAge: session.lifetimeS });
      return null;
    },
  );
}

function endSessionRoute(app: App, ports: ApiPorts, accessControl: AccessControl): void {
  app.delete(
    '/api/session',
    {
      config,
      schema: {
        summary: 'Sign this browser out: ends its session and removes its cookie',
        operationId: 'endSession',
        tags,
        security: [],
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      reply.code(204);
      await accessControl.signOut(request, recordSession(ports, request, 'session.ended'));
      const { name, options } = cookieFor(request);
      reply.clearCookie(name, options);
      return null;
    },
  );
}

/** `label`: what people call the user: not proved. Null: unknown. */
export function recordSession(
  ports: ApiPorts,
  { id: requestId, ip }: FastifyRequest,
  action: 'session.started' | 'session.ended',
  label: string | null = null,
): RecordSession {
  return async (tx, by) => {
    const tenantId = by.kind === 'operator' ? null : by.tenantId;
    const actor = actorOf(by, action);
    const target = actor.id ?? actor.user ?? actor.kind;
    const detail = { address: ip, ...(label !== null && { name: label }) };
    await recordBy(ports, tx, { tenantId, actor, requestId }, [{ action, target, detail }]);
  };
}

/** A sign-in with a key is an act of the key; all else is one of the session. */
function actorOf(by: SignedInBy, action: 'session.started' | 'session.ended'): Actor {
  if (by.kind === 'operator') return OPERATOR;
  const { owner } = by;
  return owner.kind === 'user'
    ? userActor(owner.user)
    : toActor(action === 'session.started' ? 'key' : 'session', owner.key);
}
