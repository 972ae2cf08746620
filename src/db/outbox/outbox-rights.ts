/**
 * What a login may do with an outbox. From the catalogs, which every login may read: PostgreSQL's errors do not tell an
 * outbox that is not there from one that the login may not see, and name one right at a time.
 */
import { sql } from 'drizzle-orm';
import type { Executor } from '../connection/client.ts';

/** `absent`: there is no outbox. `none`: it may not read it. `read`: it may not relay it. */
export type OutboxRights = 'absent' | 'none' | 'read' | 'relay';

export async function readRights(executor: Executor, schema: string): Promise<OutboxRights> {
  const [row] = await executor.execute<{ rights: OutboxRights }>(sql`/* outbox.rights */
    with found as (
      select c.relname, has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select') as reads,
        has_any_column_privilege(c.oid, 'update') and (c.relname <> 'outbox' or has_table_privilege(c.oid, 'delete'))
          as writes
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${schema} and c.relname in ('outbox', 'outbox_about')
    )
    select case when not exists (select 1 from found f where f.relname = 'outbox_about') then 'absent'
      when not (select bool_and(f.reads) from found f) then 'none'
      when not (select bool_and(f.writes) from found f) then 'read'
      else 'relay' end as rights`);
  if (row === undefined) throw new Error('PostgreSQL did not tell the rights of the login.');
  return row.rights;
}
