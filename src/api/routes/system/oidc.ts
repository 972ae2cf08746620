/**
 * Sign-in with OpenID Connect. A browser navigates to both addresses, so failures end on the sign-in page of the console,
 * as a code: no text of the provider is shown.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type, type Static } from 'typebox';
import type { AccessControl } from '../../access/access.ts';
import { sessionCookie, sessionIn } from '../../access/session.ts';
import { oidcLimits } from '../../access/sign-in-limits.ts';
import { findEntry } from '../../oidc/entry.ts';
import { PENDING_S, ownPath, pendingCookie, type Pending } from '../../oidc/pending.ts';
import type { Failure } from '../../oidc/failure.ts';
import { CALLBACK, CALLS_MS, openProvider, type Identity } from '../../oidc/provider.ts';
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

const CODES: Readonly<Record<Failure['kind'], EntryError>> = {
  unavailable: 'provider_unavailable',
  busy: 'rate_limited',
  denied: 'sign_in_denied',
  wrong_code: 'sign_in_failed',
  failed: 'sign_in_failed',
};

/** What the operator may have to mend. */
const FAULTS: ReadonlySet<EntryError> = new Set(['sign_in_failed', 'provider_unavailable']);

const Begin = partial({
  /** A path of the console; anything else, or a long one, leads to its start page. */
  return_to: Type.String(),
  /** The tenant to enter, if grants give access to several. */
  tenant: Type.String({ minLength: 1, maxLength: 64 }),
  /** Came from another host already: a proxy may hide the public one. */
  redirected: Type.String(),
});

// HEAD would use up a code.
const options = { config: { access: 'keyless', timeoutMs: CALLS_MS }, exposeHeadRoute: false } as const;

export function oidcRoutes(app: App, ports: ApiPorts, accessControl: AccessControl): void {
  const signIn = ports.config.oidc === null ? null : openSignIn(ports, ports.config.oidc, accessControl);
  const needed = () => {
    if (signIn !== null) return signIn;
    throw refused(
      'unsupported',
      'OpenID Connect is not set up. Set NIGHTSHIFT_OIDC_ISSUER, or sign in with an API key.',
    );
  };
  app.get(BEGIN, { ...options, schema: { hide: true, querystring: Begin } }, async (request, reply) =>
    needed().begin(request, reply, request.query),
  );
  // Without a schema: providers add parameters of their own.
  app.get(CALLBACK, { ...options, schema: { hide: true } }, async (request, reply) => needed().end(request, reply));
}

const BEGIN = '/api/session/oidc';

type SignIn = {
  begin(request: FastifyRequest, reply: FastifyReply, wanted: Static<typeof Begin>): Promise<FastifyReply>;
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
  const cookie = pendingCookie(client, ports.config.secretKeys);
  const limits = oidcLimits();
  const session = sessionCookie(publicUrl.startsWith('https:'));

  const goTo = (reply: FastifyReply, address: string): FastifyReply =>
    reply.header('referrer-policy', 'no-referrer').redirect(address, 302);

  /** `detail`: for the log, no secret. */
  function fail(request: FastifyRequest, reply: FastifyReply, error: EntryError, detail: object = {}): FastifyReply {
    const level = FAULTS.has(error) ? 'warn' : 'info';
    request.log[level]({ error, ...detail }, 'a sign-in with OpenID Connect failed');
    return goTo(reply, `/?error=${error}`);
  }

  /** The sign-in that this browser has begun; null: none, another one, or it took too long. */
  async function pendingOf({ cookies, query }: FastifyRequest): Promise<Pending | null> {
    const pending = await cookie.open(cookies[cookie.name] ?? '');
    return pending !== null && stateIn(query) === pending.state ? pending : null;
  }

  async function enter(
    request: FastifyRequest,
    reply: FastifyReply,
    { user, groups }: Identity,
    { tenant, returnTo, replaces }: Pending,
  ): Promise<FastifyReply> {
    const entry = await findEntry(ports.database.everywhere.db, { issuer, grants, groups, tenant });
    if (entry.kind === 'no_entry')
      return fail(request, reply, 'no_access', { reason: entry.reason, user, groups: shownGroups(groups) });
    if (!(await limits.mayEnter(user))) return fail(request, reply, 'rate_limited', { user });
    const owner = { kind: 'user', user, groups: entry.groups } as const;
    const replaced =
      replaces === null ? null : { session: replaces, record: recordSession(ports, request, 'session.ended') };
    const by = { kind: 'tenant', tenantId: entry.tenantId, owner } as const;
    const begun = await accessControl.enter(by, recordSession(ports, request, 'session.started'), replaced);
    if (begun === null) return fail(request, reply, 'tenant_inactive', { user });
    reply.setCookie(session.name, begun.cookie, { ...session.options, maxAge: begun.lifetimeS });
    return goTo(reply, returnTo);
  }

  return {
    async begin(request, reply, { return_to, tenant: wanted, redirected }) {
      // A link of another site does not choose the tenant.
      const tenant = request.headers['sec-fetch-site'] === 'cross-site' ? undefined : wanted;
      // The provider sends the browser to the public URL, where it has no cookie of another host.
      if (redirected === undefined && request.host.toLowerCase() !== new URL(publicUrl).host)
        return goTo(reply, `${publicUrl}${BEGIN}?${queryOf({ return_to, tenant, redirected: '1' })}`);
      if (!(await limits.mayBegin(request.ip))) return fail(request, reply, 'rate_limited');
      const begun = await provider.begin();
      if (begun.kind !== 'begun') return fail(request, reply, CODES[begun.kind], { reason: begun.detail });
      const sealed = await cookie.seal({
        ...begun.checks,
        tenant: tenant ?? null,
        returnTo: ownPath(return_to, client),
        replaces: sessionIn(request),
      });
      reply.setCookie(cookie.name, sealed, { ...cookie.options, maxAge: PENDING_S });
      return goTo(reply, begun.url);
    },
    async end(request, reply) {
      const pending = await pendingOf(request);
      reply.clearCookie(cookie.name, cookie.options);
      if (pending === null) return fail(request, reply, 'sign_in_expired');
      if (!(await limits.mayTry(request.ip))) return fail(request, reply, 'rate_limited');
      const identity = await provider.identify(request.url.split('?').slice(1).join('?'), pending);
      if (identity.kind !== 'wrong_code') await limits.giveBack(request.ip);
      if (identity.kind === 'identity') return enter(request, reply, identity, pending);
      return fail(request, reply, CODES[identity.kind], { reason: identity.detail });
    },
  };
}

/** For a line of the log: the provider decides how many there are, and how long. A grant has at most 256 characters. */
function shownGroups(groups: readonly string[] | null): string[] | null {
  return groups?.slice(0, 50).map((group) => group.slice(0, 256)) ?? null;
}

function queryOf(parameters: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, value);
  return query.toString();
}

function stateIn(query: unknown): unknown {
  return typeof query === 'object' && query !== null && 'state' in query ? query.state : undefined;
}
