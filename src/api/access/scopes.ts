/** Checks the scopes of a caller. */
import type { FastifyContextConfig } from 'fastify';
import type { Scope, Scopes } from '../../core/access/scopes.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import { TOKEN_SCOPES } from '../../core/access/tokens.ts';
import { refused } from '../response/problem.ts';

type Caller = { scopes: Scopes | null };
type Access = NonNullable<FastifyContextConfig['access']>;

/** `scope`: what a key of a tenant needs; null: none, or the route is not for tenants. `operator`: open to the admin key. */
const RULES: Readonly<Record<Access, { scope: Scope | null; operator: boolean }>> = {
  open: { scope: null, operator: false },
  keyless: { scope: null, operator: false },
  any_key: { scope: null, operator: true },
  operator: { scope: null, operator: true },
  metrics: { scope: null, operator: true },
  read_or_operator: { scope: 'read', operator: true },
  keys_or_operator: { scope: 'keys', operator: true },
  read: { scope: 'read', operator: false },
  run: { scope: 'run', operator: false },
  configure: { scope: 'configure', operator: false },
  approve: { scope: 'approve', operator: false },
  keys: { scope: 'keys', operator: false },
};

/** The scope that the key of a tenant needs for a route. Null: none, or the route is not for tenants. */
export function scopeOf(access: Access | undefined): Scope | null {
  return access === undefined ? null : RULES[access].scope;
}

/** Whether a token may have the scope that a route needs. */
export function isForTokens(access: Access | undefined): boolean {
  return TOKEN_SCOPES.some((scope) => scope === scopeOf(access));
}

/** Whether only the operator's keys give access to a route, where there are keys. */
export function isForOperatorOnly(access: Access | undefined): boolean {
  return access === 'operator' || access === 'metrics';
}

/** Whether the admin key gives access to a route. */
export function isForOperator(access: Access | undefined): boolean {
  return access !== undefined && RULES[access].operator;
}

/**
 * Throws if the caller lacks the scope. `what`: what needs it. The error names no field: another key is needed, not
 * another request.
 */
export function requireScope({ scopes }: Caller, scope: Scope, what: string): void {
  if (scopes?.has(scope) === true) return;
  throw refused('forbidden', `${what} needs the scope ${scope}. ${ownScopes(scopes)}`);
}

/** The refusal of a caller that gives scopes which it lacks; null: it may. The admin key, without scopes, gives any. */
export function lackedScope({ scopes }: Caller, given: readonly Scope[], param?: string): Refusal | null {
  const lacked = scopes === null ? undefined : given.find((scope) => !scopes.has(scope));
  if (lacked === undefined) return null;
  return refuse('forbidden', `To give the scope ${lacked}, a key must have it. ${ownScopes(scopes)}`, param);
}

function ownScopes(scopes: Scopes | null): string {
  return `Your scopes: ${[...(scopes ?? [])].join(', ')}.`;
}

/** Throws if a config is given, and the caller may not write one. Null or empty: none is given. */
export function requireConfigure(caller: Caller, config: object | null | undefined): void {
  if (config !== null && config !== undefined && Object.keys(config).length > 0)
    requireScope(caller, 'configure', 'A config');
}
