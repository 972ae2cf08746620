/**
 * The tenants of keys of the environment. The first request with a key adds the row of its tenant where it is missing, not
 * the start of the API: PostgreSQL may be down then. Whether the tenant is active is asked at most twice a second.
 */
import type { TenantId } from '../../core/ids.ts';
import type { Database, Executor } from '../../db/connection/client.ts';
import { findActive, tenantOfKey, type CredentialTenant } from '../../db/write/tenants/tenants.ts';
import { createBriefCache } from './brief-cache.ts';
import { openCredentialStreams } from './credential-streams.ts';

/** `keyId`: of the key. */
type EnvironmentKey = { tenant: string; keyId: string };

type Tenants = {
  /** Null: the key was one of a deleted tenant of this name. */
  find(key: EnvironmentKey): Promise<CredentialTenant | null>;
  /** Whether the tenant is active, without any cache. */
  isActive(executor: Executor, id: TenantId): Promise<boolean>;
  /** Calls `end` when the tenant is no longer active. Returns a function that unregisters `end`. */
  whileActive(id: TenantId, end: () => void): () => void;
};

export function openTenants({ db }: Pick<Database, 'db'>): Tenants {
  const streams = openCredentialStreams(
    (id: TenantId) => String(id),
    async (ids) => new Set([...(await findActive(db, ids))].map(String)),
  );
  const known = createBriefCache(
    ({ tenant, keyId }: EnvironmentKey) => tenantOfKey(db, tenant, keyId),
    ({ tenant, keyId }) => `${tenant} ${keyId}`,
  );
  return {
    find: (key) => known.get(key),
    isActive: async (executor, id) => (await findActive(executor, [id])).has(id),
    whileActive: (id, end) => streams.add(id, end),
  };
}
