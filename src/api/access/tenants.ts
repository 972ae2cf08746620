/**
 * The ids of tenants by name. The first request of a tenant finds or adds its row, not the start of the API: PostgreSQL
 * may be down then. An id never changes, so it is cached until the process ends.
 */
import { DEFAULT_TENANT, DEFAULT_TENANT_NAME } from '../../core/ids.ts';
import type { TenantId } from '../../core/ids.ts';
import type { Database } from '../../db/connection/client.ts';
import { tenantIdOf } from '../../db/write/tenants.ts';

export type FindTenant = (name: string) => Promise<TenantId>;

/** Requests that need the same name at once share one look-up. A failed look-up is not cached. */
export function tenantFinder({ db }: Pick<Database, 'db'>): FindTenant {
  const found = new Map([[DEFAULT_TENANT_NAME, Promise.resolve(DEFAULT_TENANT)]]);
  return (name) => {
    const known = found.get(name);
    if (known !== undefined) return known;
    const asked = tenantIdOf(db, name);
    found.set(name, asked);
    asked.catch(() => found.delete(name));
    return asked;
  };
}
