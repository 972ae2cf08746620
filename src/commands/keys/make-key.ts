/** Makes an API key of a tenant. The caller has already checked that it may give these scopes. */
import { MOST_KEYS, type ApiKeyView, type NewApiKey } from '../../core/api-keys.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import { addKey, lockKeys, type KeyCount } from '../../db/write/api-keys.ts';
import { done, type Command } from '../perform.ts';

/**
 * `isFirst`: made by the operator, for a tenant that has no key yet. One that was never used does not count: its
 * response may have been lost. Refused: `forbidden` if the tenant has a key, `invalid_request` at the limit.
 */
export function makeKey(key: NewApiKey, { isFirst }: { isFirst: boolean }): Command<ApiKeyView> {
  return async (tx) => {
    const count = await lockKeys(tx, key.tenantId);
    if (isFirst && count.isInUse)
      return refuse(
        'forbidden',
        'The tenant has an API key. Make further ones with a key of the tenant that has the scope keys.',
        'tenant',
      );
    return tooManyKeys(count) ?? done(await addKey(tx, key));
  };
}

export function tooManyKeys({ valid }: KeyCount): Refusal | null {
  if (valid < MOST_KEYS) return null;
  return refuse('invalid_request', `A tenant has at most ${MOST_KEYS} valid API keys. Revoke some of them.`);
}
