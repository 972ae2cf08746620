/**
 * Sign-in with OpenID Connect. A browser navigates to both addresses, so failures end on the sign-in page of the console,
 * as a code: no text of the provider is shown.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { AccessControl } from '../../access/access.ts';
import { SESSION_S, sessionCookie } from '../../access/session.ts';
import { signInLimits } from '../../access/sign-in-limits.ts';
import { findEntry } from '../../oidc/entry.ts';
import { PENDING_S, ownPath, pendingCookie, type Pending } from '../../oidc/pending.ts';
import { CALLBACK, CALLS_MS, openProvider, type Identity, type NotIdentified } from '../../oidc/provider.ts';
import { refused } from '../../response/problem.ts';
import { partial } from '../../../schema/build.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { recordSession } from './session.ts';

/** What the sign-in page explains. */
type EntryError =
  | 'sign_in_expired'
  | 'sign_in_denied'
  | 'sign_in_failed'
  | 'no_access'
  | 'provider_unavailable'
  | 'tenant_inactive'
  | 'rate_limited';

const CODES: Readonly<Record<NotIdentified['kind'], EntryError>> = {
  unavailable: 'provider_unavailable',
  denied: 'sign_in_denied',
  failed: 'sign_in_failed',
};

const Begin = partial({
  /** A path of the console. */
  return_to: Type.String({ maxLength: 1_000 }),
  /** The tenant to enter, if grants give access to several. */
  tenant: Type.String({ minLength: 1, maxLength: 64 }),
});

const config = { access: 'keyless', timeoutMs: CALLS_MS } as const;

export function oidcRoutes(app: App, ports: ApiPorts, accessControl: AccessControl): void {
  const signIn = ports.config.oidc === null ? null : openSignIn(ports, ports.config.oidc, accessControl);
  const needed = () => {
    if (signIn !== null) return signIn;
    throw refused(
      'unsupported',
      'OpenID Connect is not set up. Set NIGHTSHIFT_OIDC_ISSUER, or sign in with an API key.',
    );
  };
  app.get('/api/session/oidc', { config, schema: { hide: true, querystring: Begin } }, async (request, reply) =>
    needed().begin(reply, request.query),
  );
  // Without a schema: providers add parameters of their own.
  app.get(CALLBACK, { config, schema: { hide: true } }, async (request, reply) => needed().end(request, reply));
}

type SignIn = {
  begin(reply: FastifyReply, wanted: { return_to?: string; tenant?: string }): Promise<FastifyReply>;
  end(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
};

function openSignIn(
  ports: ApiPorts,
  client: NonNullable<ApiPorts['config']['oidc']>,
  accessControl: AccessControl,
): SignIn {
  const { grants, ...settings } = ports.config.oidcSettings;
  const { issuer, publicUrl } = client;
  const provider = openProvider(client, settings);
  const cookie = pendingCookie(client);
  const limits = signInLimits();
  const session = sessionCookie(publicUrl.startsWith('https:'));

  const goTo = (reply: FastifyReply, address: string): FastifyReply =>
    reply.header('referrer-policy', 'no-referrer').redirect(address, 302);
  const fail = (reply: FastifyReply, error: EntryError): FastifyReply => goTo(reply, `/?error=${error}`);

  /** The sign-in that this browser has begun; null: none, another one, or it took too long. */
  async function pendingOf({ cookies, query }: FastifyRequest): Promise<Pending | null> {
    const pending = await cookie.open(cookies[cookie.name] ?? '');
    return pending !== null && stateIn(query) === pending.state ? pending : null;
  }

  async function enter(
    request: FastifyRequest,
    reply: FastifyReply,
    { user, groups }: Identity,
    { tenant, returnTo }: Pending,
  ): Promise<FastifyReply> {
    const entry = await findEntry(ports.database.everywhere.db, { issuer, grants, groups, tenant });
    if (entry === null) {
      request.log.info({ user, groups: groups.slice(0, 50) }, 'no grant of oidc.grants gives this user access');
      return fail(reply, 'no_access');
    }
    if ((await limits.begins(user)) !== null) return fail(reply, 'rate_limited');
    const owner = { kind: 'user', user, groups: entry.groups } as const;
    const record = recordSession(ports, request, 'session.started');
    const token = await accessControl.enter({ tenantId: entry.tenantId, owner }, record);
    if (token === null) return fail(reply, 'tenant_inactive');
    reply.setCookie(session.name, token, { ...session.options, maxAge: SESSION_S.user });
    return goTo(reply, returnTo);
  }

  return {
    async begin(reply, { return_to, tenant = null }) {
      const begun = await provider.begin();
      if (begun.kind !== 'begun') {
        reply.log.warn({ reason: begun.detail }, 'the OpenID provider could not be asked for a sign-in');
        return fail(reply, CODES[begun.kind]);
      }
      const sealed = await cookie.seal({ ...begun.checks, tenant, returnTo: ownPath(return_to, client) });
      reply.setCookie(cookie.name, sealed, { ...cookie.options, maxAge: PENDING_S });
      return goTo(reply, begun.url);
    },
    async end(request, reply) {
      const pending = await pendingOf(request);
      reply.clearCookie(cookie.name, cookie.options);
      if (pending === null) return fail(reply, 'sign_in_expired');
      if ((await limits.refusal(request.ip)) !== null) return fail(reply, 'rate_limited');
      const identity = await provider.identify(request.url.split('?').slice(1).join('?'), pending);
      if (identity.kind === 'identity') return enter(request, reply, identity, pending);
      if (identity.kind === 'failed') await limits.wrong(request.ip);
      request.log.warn({ reason: identity.detail }, 'a sign-in with OpenID Connect failed');
      return fail(reply, CODES[identity.kind]);
    },
  };
}

function stateIn(query: unknown): unknown {
  return typeof query === 'object' && query !== null && 'state' in query ? query.state : undefined;
}
