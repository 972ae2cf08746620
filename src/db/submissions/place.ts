/**
 * Which installation, or outbox, has the function `nightshift_submit_v1` of a schema. Read from catalogs of PostgreSQL
 * alone, which every role may read. The comment of the function is made with an installation; the id of the database
 * tells apart copies of it on one server.
 */
import { sql } from 'drizzle-orm';
import type { Executor } from '../connection/client.ts';

/** `$1`: the schema. The value is null if there is no such function. */
const PLACE = `(
  select case when exists (
      select 1 from pg_catalog.pg_class c where c.relnamespace = n.oid and c.relname = 'outbox_about'
    ) then 'outbox' else concat(pg_catalog.obj_description(p.oid, 'pg_proc'), ' in database ', (
      select d.oid from pg_catalog.pg_database d where d.datname = pg_catalog.current_database()
    )) end
  from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where p.proname = 'nightshift_submit_v1' and n.nspname = $1::text limit 1)`;

/**
 * Also marks the transaction, by a setting that ends with it. The function looks for the mark: it is missing if each
 * statement is a transaction of its own.
 */
export const BEGIN_ENQUEUE = `select pg_catalog.set_config('nightshift.enqueue', 'begun', true) as mark, ${PLACE} as place`;

export const OUTBOX_PLACE = 'outbox';

/** Of the installation. Null: it has no such function. */
export async function ownPlace(executor: Executor, schema: string): Promise<string | null> {
  const [before = '', after = ''] = PLACE.split('$1');
  const [row] = await executor.execute<{ place: string | null }>(
    sql`select ${sql.raw(before)}${schema}${sql.raw(after)} as place`,
  );
  return row?.place ?? null;
}
