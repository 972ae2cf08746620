/** Makes an API key of a tenant. The caller has already checked that it may give these scopes. */
import { INVALID_KEY, MOST_KEYS, type ApiKeyView, type NewApiKey } from '../../core/access/api-keys.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import { TENANT_INACTIVE } from '../../core/access/tenant.ts';
import type { Executor } from '../../db/connection/client.ts';
import { addKey, lockKeys, type KeyCount } from '../../db/write/api-keys.ts';
import { done, type Command } from '../perform.ts';

/** Checks in the transaction whether the caller's own credential is valid: a request may take minutes to arrive. */
export type CallerCheck = (tx: Executor) => Promise<boolean>;

/**
 * A key that the operator makes is the first of its tenant: no valid one can make others (see `KeyCount`). Refused:
 * `forbidden` if one can, `unauthorized`, `tenant_suspended`, and `invalid_request` at the limit.
 */
export function makeKey(key: NewApiKey, isCallerValid: CallerCheck): Command<ApiKeyView> {
  return async (tx) => {
    const count = await lockKeys(tx, key.tenantId);
    if (count === null) return TENANT_INACTIVE;
    if (!(await isCallerValid(tx))) return INVALID_KEY;
    if (key.isByOperator && count.canMake) return hasKey();
    return tooManyKeys(count) ?? done(await addKey(tx, key));
  };
}

export function hasKey(): Refusal {
  return refuse(
    'forbidden',
    'The tenant has an API key, or people signed in with OpenID Connect, that can make keys. Make further ones with these.',
    'tenant',
  );
}

export function tooManyKeys({ valid }: KeyCount): Refusal | null {
  if (valid < MOST_KEYS) return null;
  return refuse('invalid_request', `A tenant has at most ${MOST_KEYS} valid API keys. Revoke some of them.`);
}
