/** The key of the environment with which the operator can try the API. */
import type { ApiKey } from './access.ts';
import type { Scope } from '../core/access/scopes.ts';

/** The first key that has these scopes. */
export function keyWith(keys: readonly ApiKey[], needed: readonly Scope[]): ApiKey | undefined {
  return keys.find(({ scopes }) => needed.every((scope) => scopes.has(scope)));
}
