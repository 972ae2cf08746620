/** What a system writes: rows by table, transactions, WAL, and commands of Redis. */
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { System } from './system.ts';

/** Of the servers, so far: correct at once, but shared by all databases. */
export type Totals = { writingCommits: number; walBytes: number; redisCommands: number };

export async function readTotals({ sql, place }: System): Promise<Totals> {
  // Only a transaction that writes, or locks a row, gets a number.
  const [row] = await sql<{ commits: number; bytes: number }[]>`
    select pg_snapshot_xmax(pg_current_snapshot())::text::float8 as commits,
      pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`;
  const redis = new Redis(place.redisUrl, { lazyConnect: true });
  try {
    await redis.connect();
    const [, commands] = /^total_commands_processed:(\d+)/m.exec(await redis.info('stats')) ?? [];
    return { writingCommits: row?.commits ?? 0, walBytes: row?.bytes ?? 0, redisCommands: Number(commands) };
  } finally {
    redis.disconnect();
  }
}

/** Of one database, so far. `commits`: read-only ones too. */
export type Rows = { inserted: number; updated: number; deleted: number };
export type Stored = { commits: number; tables: Map<string, Rows> };

/** An idle connection of PostgreSQL reports its counts at the latest after ten seconds. */
const REPORTED_MS = 11_000;

export async function untilReported(signal: AbortSignal): Promise<void> {
  await pause(REPORTED_MS, undefined, { signal });
}

/** After `untilReported`. */
export async function readStored({ sql }: System): Promise<Stored> {
  const rows = await sql<(Rows & { name: string })[]>`
    select relname as name, n_tup_ins::float8 as inserted, n_tup_upd::float8 as updated, n_tup_del::float8 as deleted
    from pg_stat_user_tables`;
  const [database] = await sql<{ commits: number }[]>`
    select xact_commit::float8 as commits from pg_stat_database where datname = current_database()`;
  return { commits: database?.commits ?? 0, tables: new Map(rows.map(({ name, ...rest }) => [name, rest])) };
}

/** What was written between two readings, divided by `runs`. Tables without writes are left out. */
export function storedPerRun(before: Stored, after: Stored, runs: number): Stored {
  const none = { inserted: 0, updated: 0, deleted: 0 };
  const tables = [...after.tables].map(([name, last]): [string, Rows] => {
    const first = before.tables.get(name) ?? none;
    const each = (of: keyof Rows): number => (last[of] - first[of]) / runs;
    return [name, { inserted: each('inserted'), updated: each('updated'), deleted: each('deleted') }];
  });
  const written = tables.filter(([, { inserted, updated, deleted }]) => inserted + updated + deleted > 0);
  return { commits: (after.commits - before.commits) / runs, tables: new Map(written) };
}

export function sumOf({ tables }: Stored, of: keyof Rows): number {
  return [...tables.values()].reduce((sum, rows) => sum + rows[of], 0);
}
