/**
 * The ids of tenants by name. The first request with a key of the environment adds the row of its tenant where it is
 * missing, not the start of the API: PostgreSQL may be down then. An id never changes, so it is cached until the process
 * ends.
 */
import { DEFAULT_TENANT, DEFAULT_TENANT_NAME, type TenantId } from '../../core/ids.ts';
import type { Database } from '../../db/connection/client.ts';
import { ensureTenant } from '../../db/write/tenants.ts';

export type TenantIds = (name: string) => Promise<TenantId>;

/** Requests that need the same name at once share one look-up. A failed look-up is not cached. */
export function createTenantIds({ db }: Pick<Database, 'db'>): TenantIds {
  const ids = new Map([[DEFAULT_TENANT_NAME, Promise.resolve(DEFAULT_TENANT)]]);
  return (name) => {
    const cached = ids.get(name);
    if (cached !== undefined) return cached;
    const lookup = ensureTenant(db, name);
    ids.set(name, lookup);
    lookup.catch(() => ids.delete(name));
    return lookup;
  };
}
