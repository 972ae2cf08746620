/**
 * Database queries of housekeeping before it deletes folders. They cover all tenants, because no client requests them.
 */
import { sql } from 'drizzle-orm';
import type { ContextId } from '../../../core/ids.ts';
import type { Executor } from '../../connection/client.ts';

/** Those of `ids` that exist. */
export async function findKnown(executor: Executor, ids: readonly ContextId[]): Promise<Set<ContextId>> {
  const rows = await executor.execute<{ id: ContextId }>(sql`
    select c.id from jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb) as t(id) join contexts c on c.id = t.id::uuid`);
  return new Set(rows.map(({ id }) => id));
}

/** An identifier of this database that is unique across database clusters. */
export async function databaseIdentity(executor: Executor): Promise<string> {
  const [row] = await executor.execute<{ id: string }>(sql`
    select s.system_identifier::text || '-' || d.oid::text as id
    from pg_control_system() s, pg_database d where d.datname = current_database()`);
  return row?.id ?? '';
}
