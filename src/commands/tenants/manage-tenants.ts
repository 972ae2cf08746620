/** What the operator does with tenants. Each is one statement, apart from what else its transaction writes. */
import { refuse, type Refusal } from '../../core/errors.ts';
import { DEFAULT_TENANT_NAME } from '../../core/ids.ts';
import type { Deletion, TenantView } from '../../core/access/tenant.ts';
import { endAccess } from '../../db/write/tenants/deletion.ts';
import {
  addTenant,
  beginDeletion,
  changeTenant,
  findTenant,
  type TenantChange,
} from '../../db/write/tenants/manage.ts';
import { newTenantId } from '../../db/write/tenants/tenants.ts';
import { done, type Command } from '../perform.ts';

/** Refused: `tenant_exists`. */
export function makeTenant(tenant: Pick<TenantView, 'name' | 'weight' | 'limits' | 'allow'>): Command<TenantView> {
  return async (tx) => {
    const added = await addTenant(tx, { ...tenant, id: newTenantId() });
    if (added !== null) return done(added);
    return refuse('tenant_exists', `There is a tenant with the name ${tenant.name}. Change it with PATCH.`, 'name');
  };
}

/** Refused: `not_found`, `tenant_exists` (it is being deleted). */
export function alterTenant(name: string, change: TenantChange): Command<TenantView> {
  return async (tx) => {
    const changed = await changeTenant(tx, name, change);
    if (changed !== null) return done(changed);
    if ((await findTenant(tx, name)) === null) return noTenant(name);
    return refuse('tenant_exists', `The tenant ${name} is being deleted. It cannot be changed any more.`);
  };
}

/**
 * Ends its keys, sessions and tokens, and begins its deletion, which worker processes carry out. Safe to repeat. Refused:
 * `not_found`, `forbidden` (the tenant of APIs without keys).
 */
export function deleteTenant(
  name: string,
  by: Pick<Deletion, 'actor' | 'requestId' | 'keys'>,
): Command<{ isNew: boolean; view: TenantView }> {
  return async (tx) => {
    if (name === DEFAULT_TENANT_NAME)
      return refuse('forbidden', 'Every installation has the tenant default. Delete its workers instead.', 'name');
    const begun = await beginDeletion(tx, name, by);
    if (begun === null) {
      const view = await findTenant(tx, name);
      return view === null ? noTenant(name) : done({ isNew: false, view });
    }
    await endAccess(tx, begun.id);
    return done({ isNew: true, view: begun.view });
  };
}

export function noTenant(name: string): Refusal {
  return refuse('not_found', `No tenant has the name ${name}.`);
}
