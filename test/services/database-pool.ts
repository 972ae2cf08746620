// Databases that the test files of one process reuse. A fresh copy of the template costs Postgres about a tenth of a
// second of CPU, most of it where its first connections read the catalog; emptying a used one costs a few milliseconds.
import postgres from 'postgres';
import type { Database, DatabaseOptions } from '../../src/db/connection/client.ts';
import { depth } from './depth.ts';
import { KeptPools } from './kept-pools.ts';

/** A database that waits for its next user, and the connection that prepares it. */
type Pooled = { url: string; sql: postgres.Sql; pools: KeptPools; fresh: State; drop: () => Promise<void> };

type State = { schema: string; tenants: string; bytes: number };

type Made = { url: string; drop: () => Promise<void> };

/** `open`: as `openDatabase`; its connections are those of an earlier user. */
export type PooledDatabase = Made & { open(options?: DatabaseOptions): Database };

/**
 * Whether a connection plans each statement once. Otherwise, as in production, it plans the first five executions of
 * each: a fifth of Postgres' work in a run, since the connections of tests are short-lived.
 */
const PLANS_ONCE = depth(true, false);

/** How much larger than a fresh one a database may have grown: its tables keep the pages of deleted rows. */
const GROWN_BYTES = 8 * 2 ** 20;

export class DatabasePool {
  readonly #make: () => Promise<Made>;
  readonly #idle: Pooled[] = [];

  /** `make`: a fresh database, and how it is dropped. */
  constructor(make: () => Promise<Made>) {
    this.#make = make;
  }

  async lend(): Promise<PooledDatabase> {
    const pooled = this.#idle.pop() ?? (await this.#open());
    return {
      url: pooled.url,
      open: (options) => pooled.pools.open(options),
      drop: () => this.#takeBack(pooled),
    };
  }

  async #open(): Promise<Pooled> {
    const { url, drop } = await this.#make();
    const sql = postgres(url, { max: 1, onnotice: () => undefined });
    if (PLANS_ONCE) {
      const name = new URL(url).pathname.slice(1);
      await sql.unsafe(`alter database ${name} set plan_cache_mode = force_generic_plan`);
    }
    return { url, sql, pools: new KeptPools(url), drop, fresh: await stateOf(sql) };
  }

  /** A database that cannot be restored is dropped. */
  async #takeBack(pooled: Pooled): Promise<void> {
    if (await isLikeNew(pooled)) {
      this.#idle.push(pooled);
      return;
    }
    await pooled.pools.close();
    await pooled.sql.end({ timeout: 5 });
    await pooled.drop();
  }
}

async function isLikeNew({ sql, pools, fresh }: Pooled): Promise<boolean> {
  try {
    await pools.takeBack();
    // Of those that are kept, too, whatever still runs a statement or holds a session's lock.
    await sql`
      select pg_terminate_backend(pid, 10000) from pg_stat_activity a
      where datname = current_database() and pid <> pg_backend_pid()
        and (application_name <> all(${pools.names}) or state <> 'idle'
          or exists (select from pg_locks l where l.pid = a.pid and l.locktype = 'advisory'))`;
    await empty(sql, fresh.tenants);
    // Otherwise the next test's counts of scans would still grow by these.
    await sql`select pg_stat_force_next_flush()`;
    const { schema, tenants, bytes } = await stateOf(sql);
    return schema === fresh.schema && tenants === fresh.tenants && bytes < fresh.bytes + GROWN_BYTES;
  } catch (error) {
    // Another test goes on with a fresh database; it took longer, and the reason should be seen.
    process.stderr.write(`A database of tests could not be emptied: ${String(error)}\n`);
    return false;
  }
}

/** `before`: the rows of tenants, as JSON. */
async function empty(sql: postgres.Sql, before: string): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    select c.oid::regclass::text as name from pg_class c
    where c.relkind = 'r' and c.relnamespace = 'nightshift'::regnamespace and c.relname not in ('migrations', 'tenants')
      -- A table without a page has had no row. A statement for each of these would be most of the work.
      and pg_relation_size(c.oid) > 0`;
  const deletes = tables.map(({ name }) => `delete from ${name};`);
  const wanted = `'${before.replaceAll("'", "''")}'::jsonb`;
  await sql.unsafe(`
    begin;
    -- No trigger and no foreign key is asked.
    set local session_replication_role = replica;
    ${deletes.join('\n')}
    -- Only what a test changed is written.
    delete from nightshift.tenants t where to_jsonb(t) not in (select jsonb_array_elements(${wanted}));
    insert into nightshift.tenants
      select * from jsonb_populate_recordset(null::nightshift.tenants, ${wanted}) on conflict (id) do nothing;
    select setval(c.oid, 1, false) from pg_class c
    where c.relkind = 'S' and c.relnamespace = 'nightshift'::regnamespace and c.relname <> 'migrations_id_seq';
    commit`);
}

/** PostgreSQL's own objects have lower numbers. */
const FIRST_OWN = 16_384;

/**
 * `schema`: the changes of a test beside rows, namely definitions, settings, applied migrations and planner statistics.
 * `tenants`: their rows, as JSON.
 */
async function stateOf(sql: postgres.Sql): Promise<State> {
  const [row] = await sql<{ schema: string; tenants: string; bytes: string }[]>`
    select md5(concat_ws(' ',
      (select string_agg(concat_ws(' ', c.oid, c.relname, c.relkind, c.relowner, c.relacl, c.reloptions, c.relnatts,
          c.reltuples, c.relhastriggers, c.relhasrules), ',' order by c.oid)
        from pg_class c where c.relnamespace = 'nightshift'::regnamespace),
      (select string_agg(concat_ws(' ', a.attrelid, a.attname, a.atttypid, a.attnotnull, a.atthasdef), ','
          order by a.attrelid, a.attnum)
        from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace = 'nightshift'::regnamespace and a.attnum > 0),
      (select string_agg(concat_ws(' ', t.oid, t.tgenabled), ',' order by t.oid) from pg_trigger t where t.oid >= ${FIRST_OWN}::oid),
      (select string_agg(o.oid::text, ',' order by o.oid) from pg_constraint o where o.oid >= ${FIRST_OWN}::oid),
      (select string_agg(concat_ws(' ', p.oid, md5(p.prosrc)), ',' order by p.oid)
        from pg_proc p where p.pronamespace = 'nightshift'::regnamespace),
      (select string_agg(n.nspname, ',' order by n.oid) from pg_namespace n where not starts_with(n.nspname, 'pg_')),
      (select string_agg(s.setconfig::text, ',') from pg_db_role_setting s
        where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))),
      (select string_agg(m.hash, ',' order by m.id) from nightshift.migrations m)
    )) as schema,
    (select jsonb_agg(to_jsonb(t) order by t.id)::text from nightshift.tenants t) as tenants,
    (select sum(pg_relation_size(c.oid)) from pg_class c where c.relkind in ('r', 'i', 't') and c.oid >= ${FIRST_OWN}::oid) as bytes`;
  if (row === undefined) throw new Error('a query without rows');
  return { ...row, bytes: Number(row.bytes) };
}
