/**
 * Refuses unsupported methods of known paths with 405; the header `allow` lists the supported ones. Fastify answers
 * HEAD for every GET route.
 */
import type { FastifyContextConfig } from 'fastify';
import { refuse } from '../../core/errors.ts';
import { isForTokens, scopeOf } from '../access/scopes.ts';
import type { App } from './ports.ts';
import { sendProblem } from '../response/problem.ts';

type Access = NonNullable<FastifyContextConfig['access']>;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

type Address = { methods: Set<string>; routes: { config?: FastifyContextConfig }[] };

/** Call this before the first route is added, and the returned function after the last. */
export function refuseOtherMethods(app: App): () => void {
  const addresses = new Map<string, Address>();
  app.addHook('onRoute', (route) => {
    const { url, method } = route;
    const known = addresses.get(url) ?? { methods: new Set<string>(), routes: [] };
    known.routes.push(route);
    for (const one of [method].flat()) known.methods.add(one);
    // Fastify reports some paths of a prefix only with HEAD.
    if (known.methods.has('HEAD')) known.methods.add('GET');
    addresses.set(url, known);
  });
  return () => {
    for (const [url, address] of addresses) refuseOthers(app, url, address.methods, accessOf(url, address));
  };
}

/**
 * The access that other methods of an address need: that of its first route, or any key if that route needs a scope.
 * Throws if a route of the address declares none, or not what tokens reach: then the API does not start.
 */
function accessOf(url: string, { methods, routes }: Address): Access {
  const declared = routes.map(({ config }) => config?.access);
  const [first] = declared;
  if (first === undefined || declared.includes(undefined))
    throw new Error(`A route of ${url} (${[...methods].join(', ')}) declares no access.`);
  if (routes.some(({ config }) => isForTokens(config?.access) && config?.tokens === undefined))
    throw new Error(`A route of ${url} (${[...methods].join(', ')}) does not declare what tokens reach.`);
  return scopeOf(first) === null ? first : 'any_key';
}

function refuseOthers(app: App, url: string, methods: ReadonlySet<string>, access: Access): void {
  const others = METHODS.filter((method) => !methods.has(method));
  if (others.length === 0) return;
  const allow = METHODS.filter((method) => methods.has(method)).join(', ');
  app.route({
    method: others,
    url,
    schema: { hide: true },
    config: { access, tokens: 'any' },
    // Runs before the body is read.
    onRequest: async ({ method }, reply) =>
      sendProblem(
        reply.header('allow', allow),
        refuse('invalid_request', `The method ${method} is not allowed for ${url}. Allowed methods: ${allow}.`),
        405,
      ),
    handler: async (_, reply) => reply,
  });
}
