/**
 * Sign-in with OpenID Connect. A browser navigates to both addresses, so failures end on the page of the console that was
 * asked for, as a code: no text of the provider is shown.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type, type Static } from 'typebox';
import type { AccessControl } from '../../access/access.ts';
import { sessionCookie, sessionIn } from '../../access/session.ts';
import { oidcLimits } from '../../access/sign-in-limits.ts';
import { findEntry } from '../../oidc/entry.ts';
import { PENDING_S, ownPath, pendingCookie, type Pending } from '../../oidc/pending.ts';
import type { Failure } from '../../oidc/failure.ts';
import { CALLBACK, CALLS_MS, openProvider, type Groups, type Identity } from '../../oidc/provider.ts';
import { toFailure } from '../../response/failure.ts';
import { refused } from '../../response/problem.ts';
import type { User } from '../../../core/access/user.ts';
import { nowOf } from '../../../db/connection/instant.ts';
import { oneOf, partial } from '../../../schema/build.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { recordSession } from './session.ts';

/** What the sign-in page explains. */
type EntryError =
  | 'sign_in_expired'
  | 'sign_in_denied'
  | 'sign_in_failed'
  | 'no_access'
  | 'provider_unavailable'
  | 'unavailable'
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
const FAULTS: ReadonlySet<EntryError> = new Set(['sign_in_failed', 'provider_unavailable', 'unavailable']);

/** How an attempt ends that does not count as a wrong code. */
const NOT_WRONG: ReadonlySet<(Identity | Failure)['kind']> = new Set(['identity', 'unavailable', 'busy', 'denied']);

const Begin = partial({
  /** A path of the console; anything else, or a long one, leads to its start page. */
  return_to: Type.String(),
  /** The tenant to enter, if grants give access to several. */
  tenant: Type.String({ minLength: 1, maxLength: 64 }),
  /** Lets the person choose another account at the provider. */
  choose: oneOf(['1']),
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

type Wanted = Static<typeof Begin>;

type SignIn = {
  begin(request: FastifyRequest, reply: FastifyReply, wanted: Wanted): Promise<FastifyReply>;
  end(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
};

function openSignIn(
  ports: ApiPorts,
  client: NonNullable<ApiPorts['config']['oidc']>,
  accessControl: AccessControl,
): SignIn {
  const { grants, ...settings } = ports.config.oidcSettings;
  const { publicUrl } = client;
  const { db } = ports.database.everywhere;
  const provider = openProvider(client, settings);
  const cookie = pendingCookie(client, ports.config.secretKeys);
  const limits = oidcLimits();
  const session = sessionCookie(publicUrl.startsWith('https:'));

  const goTo = (reply: FastifyReply, address: string): FastifyReply =>
    reply.header('referrer-policy', 'no-referrer').redirect(address, 302);

  function fail(
    request: FastifyRequest,
    reply: FastifyReply,
    returnTo: string,
    logged: { error: EntryError } & Logged,
  ): FastifyReply {
    const level = FAULTS.has(logged.error) ? 'warn' : 'info';
    request.log[level](logged, FAILED);
    return goTo(reply, withError(returnTo, logged.error));
  }

  /** The sign-in with the state of the query; its cookie is removed. Null: this browser has none. */
  async function takePending({ cookies, query, log }: FastifyRequest, reply: FastifyReply): Promise<Pending | null> {
    const state = stateIn(query);
    const name = cookie.nameFor(state);
    const sealed = cookies[name];
    const pending = sealed === undefined ? null : await cookie.open(sealed);
    if (pending?.state === state) {
      reply.clearCookie(name, cookie.options);
      return pending;
    }
    // Anyone can send requests without a cookie.
    const [level, reason] = sealed === undefined ? (['debug', 'no cookie'] as const) : (['info', 'cookie'] as const);
    log[level]({ error: 'sign_in_expired' satisfies EntryError, reason }, FAILED);
    return null;
  }

  async function enter(
    request: FastifyRequest,
    reply: FastifyReply,
    { user, groups, label }: Identity,
    { tenant, returnTo, replaces, begunAt }: Pending,
  ): Promise<FastifyReply> {
    const found = await findEntry(db, { grants, groups, tenant });
    if (found.kind === 'no_entry') {
      const detail = { reason: found.reason, user, groups: shownGroups(groups) };
      return fail(request, reply, returnTo, { error: 'no_access', ...detail });
    }
    if (found.kind === 'inactive') return fail(request, reply, returnTo, { error: 'tenant_inactive', user });
    if (!(await limits.mayEnter(user))) return fail(request, reply, returnTo, { error: 'rate_limited', user });
    const owner = { kind: 'user', user, groups: found.groups } as const;
    const replaced =
      replaces === null ? null : { session: replaces, record: recordSession(ports, request, 'session.ended') };
    const by = { kind: 'tenant', tenantId: found.tenantId, owner } as const;
    const record = recordSession(ports, request, 'session.started', label);
    const entered = await accessControl.enter(by, record, { begunAt, replaced });
    switch (entered.kind) {
      case 'inactive':
        return fail(request, reply, returnTo, { error: 'tenant_inactive', user });
      case 'revoked':
        return fail(request, reply, returnTo, { error: 'sign_in_expired', reason: 'revoked', user });
      case 'begun':
        reply.setCookie(session.name, entered.cookie, { ...session.options, maxAge: entered.lifetimeS });
        return goTo(reply, returnTo);
    }
  }

  async function finish(request: FastifyRequest, reply: FastifyReply, pending: Pending): Promise<FastifyReply> {
    const { returnTo } = pending;
    const identity = await limits.tryCode(
      request.ip,
      () => provider.identify(request.url.split('?').slice(1).join('?'), pending),
      ({ kind }) => !NOT_WRONG.has(kind),
    );
    if (identity === null) return fail(request, reply, returnTo, { error: 'rate_limited' });
    if (identity.kind === 'identity') return enter(request, reply, identity, pending);
    return fail(request, reply, returnTo, { error: CODES[identity.kind], reason: identity.detail });
  }

  async function begin(
    request: FastifyRequest,
    reply: FastifyReply,
    returnTo: string,
    { tenant, choose }: { tenant: string | null; choose: boolean },
  ): Promise<FastifyReply> {
    if (!(await limits.mayBegin(request.ip))) return fail(request, reply, returnTo, { error: 'rate_limited' });
    // A revocation from now on counts: what the provider answers may be older.
    const begunAt = await nowOf(db);
    const begun = await provider.begin(choose);
    if (begun.kind !== 'begun')
      return fail(request, reply, returnTo, { error: CODES[begun.kind], reason: begun.detail });
    const replaces = sessionIn(request);
    const sealed = await cookie.seal({ ...begun.checks, tenant, returnTo, replaces, begunAt });
    for (const name of cookie.toRemove(request.cookies)) reply.clearCookie(name, cookie.options);
    reply.setCookie(cookie.nameFor(begun.checks.state), sealed, { ...cookie.options, maxAge: PENDING_S });
    return goTo(reply, begun.url);
  }

  /** If PostgreSQL does not answer, the page says so. */
  async function orUnavailable(
    request: FastifyRequest,
    reply: FastifyReply,
    returnTo: string,
    work: Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    try {
      return await work;
    } catch (error) {
      const { refusal } = toFailure(error, 0);
      if (refusal.code !== 'unavailable') throw error;
      return fail(request, reply, returnTo, { error: 'unavailable', reason: refusal.message });
    }
  }

  return {
    async begin(request, reply, { return_to, tenant, choose, redirected }) {
      const returnTo = ownPath(return_to, client);
      // A link of another site does not replace a session, nor choose the tenant: the person signs in on the page.
      if (request.headers['sec-fetch-site'] === 'cross-site') return goTo(reply, `${publicUrl}${returnTo}`);
      // The provider sends the browser to the public URL, where it has no cookie of another host.
      if (redirected === undefined && request.host.toLowerCase() !== new URL(publicUrl).host)
        return goTo(reply, `${publicUrl}${BEGIN}?${queryOf({ return_to, tenant, choose, redirected: '1' })}`);
      const wanted = { tenant: tenant ?? null, choose: choose === '1' };
      return orUnavailable(request, reply, returnTo, begin(request, reply, returnTo, wanted));
    },
    async end(request, reply) {
      const pending = await takePending(request, reply);
      if (pending === null) return goTo(reply, withError('/', 'sign_in_expired'));
      return orUnavailable(request, reply, pending.returnTo, finish(request, reply, pending));
    },
  };
}

/** For the log: no secret. */
type Logged = { reason?: string; user?: User; groups?: string[] | null };

const FAILED = 'a sign-in with OpenID Connect failed';

/** `path`: of the console, with a query or without. */
function withError(path: string, error: EntryError): string {
  const [, before = '/', hash = ''] = /^([^#]*)(#.*)?$/s.exec(path) ?? [];
  return `${before}${before.includes('?') ? '&' : '?'}error=${error}${hash}`;
}

/** For a line of the log: the provider decides how many there are, and how long. A grant has at most 256 characters. */
function shownGroups(groups: Groups): string[] | null {
  return typeof groups === 'string' ? null : groups.slice(0, 50).map((group) => group.slice(0, 256));
}

function queryOf(parameters: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, value);
  return query.toString();
}

/** Empty: there is none. */
function stateIn(query: unknown): string {
  const state = typeof query === 'object' && query !== null && 'state' in query ? query.state : '';
  return typeof state === 'string' ? state : '';
}
