/** Replaces an API key: makes one with the same name, scopes, limits and lifetime, and ends the old one after an overlap. */
import { INVALID_KEY, type ApiKeyView, type NewApiKey } from '../../core/access/api-keys.ts';
import { refuse, type Refusal } from '../../core/errors.ts';
import type { ApiKeyId, TenantId } from '../../core/ids.ts';
import type { Scope } from '../../core/access/scopes.ts';
import { TENANT_INACTIVE } from '../../core/access/tenant.ts';
import { addKey, endKeyAfter, isKeyOf, lockKeys } from '../../db/write/api-keys.ts';
import { done, type Command } from '../perform.ts';
import { tooManyKeys, type CallerCheck } from './make-key.ts';

type RotateKey = {
  tenantId: TenantId;
  id: ApiKeyId;
  /** How long the old key stays valid, in seconds. */
  overlapS: number;
  replacement: Pick<NewApiKey, 'id' | 'hash'>;
  isCallerValid: CallerCheck;
  /** Refuses scopes that the caller lacks. */
  mayGive: (scopes: readonly Scope[]) => Refusal | null;
};

/** Refused: `not_found`, `forbidden`, `unauthorized`, `tenant_suspended`; and `invalid_request` for a key that has ended, or at the limit. */
export function rotateKey({ tenantId, id, overlapS, ...of }: RotateKey): Command<ApiKeyView> {
  return async (tx) => {
    const count = await lockKeys(tx, tenantId);
    if (count === null) return TENANT_INACTIVE;
    if (!(await of.isCallerValid(tx))) return INVALID_KEY;
    const old = await endKeyAfter(tx, tenantId, id, overlapS);
    if (old === null)
      return (await isKeyOf(tx, tenantId, id))
        ? refuse('invalid_request', 'The API key is revoked or has expired. Make a new one.')
        : refuse('not_found', `No API key has the id ${id}.`);
    const refusal = of.mayGive(old.scopes) ?? (overlapS > 0 ? tooManyKeys(count) : null);
    return (
      refusal ??
      done(
        await addKey(tx, { ...of.replacement, ...old, tenantId, isByOperator: false, expiresAt: null, replaces: id }),
      )
    );
  };
}
