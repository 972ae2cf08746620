/** The limit of the slots that a tenant has at once. `t` is the row of the tenant throughout. */
import { sql, type SQL } from 'drizzle-orm';

/** Whether the tenant has a limit of its own. Claims of many contexts leave such tenants out. */
export const hasSlotLimit: SQL = sql`t.limits->'slots' is not null`;

/** `ofFile`: the limit of tenants that have none of their own; null: none. */
export function slotLimit(ofFile: number | null): SQL {
  return sql`coalesce((t.limits->>'slots')::int, ${ofFile}::int)`;
}

/**
 * Contexts of the tenant that run. Reads the index entries of all contexts that run, of whatever tenant: they are not more
 * than there are slots.
 */
export const runningContexts: SQL = sql`(select count(*)::int from contexts r
  where r.lease_owner is not null and r.tenant_id = t.id)`;
