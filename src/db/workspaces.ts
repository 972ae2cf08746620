/** What housekeeping asks of the database before it removes folders. Not bound to a tenant: it is nobody's request. */
import { sql } from 'drizzle-orm';
import type { ContextId } from '../core/ids.ts';
import type { Executor } from './client.ts';

/** Those of `ids` that there are. */
export async function findKnown(executor: Executor, ids: readonly ContextId[]): Promise<Set<ContextId>> {
  const rows = await executor.execute<{ id: ContextId }>(sql`
    select c.id from jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb) as t(id) join contexts c on c.id = t.id::uuid`);
  return new Set(rows.map(({ id }) => id));
}

/** Tells this database from every other one, in whatever cluster. */
export async function databaseIdentity(executor: Executor): Promise<string> {
  const [row] = await executor.execute<{ id: string }>(sql`
    select s.system_identifier::text || '-' || d.oid::text as id
    from pg_control_system() s, pg_database d where d.datname = current_database()`);
  return row?.id ?? '';
}
