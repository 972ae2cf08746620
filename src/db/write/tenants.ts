/** Tenants by name. */
import { sql } from 'drizzle-orm';
import type { TenantId } from '../../core/ids.ts';
import type { Executor } from '../connection/client.ts';

/** The id of the tenant. Adds a tenant with a new name; processes that do this at once get the same id. */
export async function tenantIdOf(executor: Executor, name: string): Promise<TenantId> {
  const [known] = await executor.execute<{ id: TenantId }>(sql`/* tenants.find */
    select t.id from tenants t where t.name = ${name}`);
  if (known !== undefined) return known.id;
  const [added] = await executor.execute<{ id: TenantId }>(sql`/* tenants.add */
    insert into tenants (name) values (${name})
    on conflict (name) do update set name = excluded.name returning id`);
  if (added === undefined) throw new Error(`The tenant ${name} was not added.`);
  return added.id;
}
