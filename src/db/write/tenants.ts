/** Tenants by name. */
import { randomInt } from 'node:crypto';
import { sql } from 'drizzle-orm';
import type { TenantId } from '../../core/ids.ts';
import type { Executor } from '../connection/client.ts';

/** Ids are below 2 to the power of 48, so that JSON and JavaScript hold them exactly. */
const IDS = 2 ** 48 - 1;

/** The id of the tenant. Adds a tenant with a new name; processes that do this at once get the same id. */
export async function ensureTenant(executor: Executor, name: string): Promise<TenantId> {
  const [known] = await executor.execute<{ id: TenantId }>(sql`/* tenants.find */
    select t.id from tenants t where t.name = ${name}`);
  if (known !== undefined) return known.id;
  const [added] = await executor.execute<{ id: TenantId }>(sql`/* tenants.add */
    insert into tenants (id, name) values (${randomInt(2, IDS)}, ${name})
    on conflict (name) do update set name = excluded.name returning id`);
  if (added === undefined) throw new Error(`The tenant ${name} was not added.`);
  return added.id;
}
