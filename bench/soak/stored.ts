/** The contents of PostgreSQL and Redis, and their connections. */
import { Redis } from 'ioredis';
import type postgres from 'postgres';

export type Table = {
  rows: number;
  /** Rows of deleted contexts; null: the table has no context column. */
  orphans: number | null;
  megabytes: number;
  /** Dead row versions that vacuum has not removed yet. */
  dead: number;
};

export type Stored = {
  tables: Record<string, Table>;
  unfinished: number;
  connections: number;
  redis: { keys: number; megabytes: number; clients: number };
};

export type Store = {
  read(): Promise<Stored>;
  /** Redis keys by pattern, with ids and numbers replaced by `*`. */
  redisKeys(): Promise<Record<string, number>>;
  /** The ids of worker processes, as used in metrics, by their pid. */
  processNames(): Promise<Map<number, string>>;
  close(): void;
};

export function openStore(sql: postgres.Sql, redisUrl: string): Store {
  const redis = new Redis(redisUrl);
  redis.on('error', () => undefined);
  return {
    async read() {
      const [counted] = await sql<{ unfinished: number; connections: number }[]>`
        select (select count(*)::int from jobs where status in ('queued', 'running', 'waiting')) as unfinished,
          (select count(*)::int from pg_stat_activity where datname = current_database()) as connections`;
      const tables = await readTables(sql);
      return { tables, ...(counted ?? { unfinished: 0, connections: 0 }), redis: await readRedis(redis) };
    },
    async redisKeys() {
      const forms: Record<string, number> = {};
      for await (const keys of redis.scanStream({ count: 500 })) {
        for (const key of keys as string[]) {
          const form = key.replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, '*').replaceAll(/\d+/g, '*');
          forms[form] = (forms[form] ?? 0) + 1;
        }
      }
      return forms;
    },
    async processNames() {
      const rows = await sql<{ pid: number; id: string }[]>`select pid, id from processes where dead_at is null`;
      return new Map(rows.map(({ pid, id }) => [pid, id.slice(-8)]));
    },
    close: () => redis.disconnect(),
  };
}

async function readTables(sql: postgres.Sql): Promise<Record<string, Table>> {
  const names = await sql<{ name: string; bytes: string; dead: string; scoped: boolean }[]>`
    select relname as name, pg_total_relation_size(relid) as bytes, n_dead_tup as dead,
      exists (select 1 from information_schema.columns c where c.table_schema = schemaname
        and c.table_name = relname and c.column_name = 'context_id') as scoped
    from pg_stat_user_tables where schemaname = 'nightshift' order by relname`;
  const tables: Record<string, Table> = {};
  for (const { name, bytes, dead, scoped } of names) {
    const [counted] = scoped
      ? await sql<{ rows: number; orphans: number }[]>`
          select count(*)::int as rows, count(*) filter (where c.id is null)::int as orphans
          from ${sql(name)} t left join contexts c on c.id = t.context_id`
      : await sql<{ rows: number; orphans: null }[]>`
          select count(*)::int as rows, null as orphans from ${sql(name)}`;
    const { rows, orphans } = counted ?? { rows: 0, orphans: null };
    tables[name] = { rows, orphans, megabytes: Number(bytes) / 2 ** 20, dead: Number(dead) };
  }
  return tables;
}

async function readRedis(redis: Redis): Promise<Stored['redis']> {
  const [keys, info] = await Promise.all([redis.dbsize(), redis.info()]);
  const figure = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? NaN);
  return { keys, megabytes: figure('used_memory') / 2 ** 20, clients: figure('connected_clients') };
}
