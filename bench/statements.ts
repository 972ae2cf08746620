/** Time of PostgreSQL by statement, if pg_stat_statements is available. */
import type postgres from 'postgres';

/** `blocks`: of tables and indexes, in memory or not. */
export type Statement = { text: string; calls: number; totalMs: number; blocks: number };

/** Resets the statistics. False if the database has none, or drops the tags (PostgreSQL 18 and later do). */
export async function countStatements(sql: postgres.Sql): Promise<boolean> {
  try {
    const [version] = await sql<{ number: number }[]>`select current_setting('server_version_num')::int as number`;
    if (version === undefined || version.number >= 180_000) return false;
    await sql`create extension if not exists pg_stat_statements`;
    await sql`select pg_stat_statements_reset(0, (select oid from pg_database where datname = current_database()))`;
    return true;
  } catch {
    return false;
  }
}

/** The most expensive first. */
export async function statementsOf(sql: postgres.Sql): Promise<Statement[]> {
  const rows = await sql<{ query: string; calls: string; ms: number; blocks: string }[]>`
    select query, calls, total_exec_time as ms, shared_blks_hit + shared_blks_read as blocks from pg_stat_statements
    where dbid = (select oid from pg_database where datname = current_database())
    order by total_exec_time desc`;
  return rows.map(({ query, calls, ms, blocks }) => ({
    text: query.replaceAll(/\s+/g, ' ').trim(),
    calls: Number(calls),
    totalMs: ms,
    blocks: Number(blocks),
  }));
}

export function lineOf({ text, calls, totalMs }: Statement): string {
  const mean = (totalMs / calls).toFixed(3);
  return `${totalMs.toFixed(0).padStart(7)} ms  ${String(calls).padStart(6)} × ${mean.padStart(7)} ms  ${text.slice(0, 110)}`;
}
