/** Checks the scopes of a caller. */
import type { FastifyContextConfig } from 'fastify';
import { isScope, type Scope, type Scopes } from '../../core/scopes.ts';
import { refused } from '../response/problem.ts';

type Caller = { scopes: Scopes | null };

/** The scope that the key of a tenant needs for a route. Null: none, or the route is not for tenants. */
export function scopeOf(access: FastifyContextConfig['access']): Scope | null {
  if (access === 'read_or_operator') return 'read';
  return access !== undefined && isScope(access) ? access : null;
}

/** Throws if the caller lacks the scope. `what`: what needs it; `param`: the field of the request that does. */
export function requireScope({ scopes }: Caller, scope: Scope, what: string, param?: string): void {
  if (scopes?.has(scope) === true) return;
  const own = [...(scopes ?? [])].join(', ');
  throw refused('forbidden', `${what} needs the scope ${scope}. Scopes of this key: ${own}.`, param);
}

/** A config of its own gives a worker abilities that its role does not. Null: none is given. */
export function requireConfigure(caller: Caller, config: object | null | undefined): void {
  if (config !== null && config !== undefined && Object.keys(config).length > 0)
    requireScope(caller, 'configure', 'A config', 'config');
}
