/** Whose contexts are, across all tenants. That of a context never changes. */
import { sql } from 'drizzle-orm';
import type { User, UserOrNone } from '../../../core/access/user.ts';
import type { ContextId, TenantId } from '../../../core/ids.ts';
import type { Executor } from '../../connection/client.ts';
import { encodeJson } from '../../connection/codec.ts';

export type Owner = { id: ContextId; tenantId: TenantId; user: User | null };

/** Without those of contexts that do not exist. One look into an index for each. */
export async function readOwners(ofAll: Executor, ids: readonly ContextId[]): Promise<Owner[]> {
  const rows = await ofAll.execute<{ id: ContextId; tenant: TenantId; user: UserOrNone }>(sql`/* contexts.owners */
    select c.id, c.tenant_id as tenant, c.user_name as user from contexts c 
    where c.id = any(array(select i::uuid from jsonb_array_elements_text(${encodeJson(ids)}::jsonb) i))`);
  return rows.map(({ id, tenant, user }) => ({ id, tenantId: tenant, user: user === '' ? null : user }));
}
