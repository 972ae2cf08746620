/** Converts times between SQL and core, which uses milliseconds. */
import { sql, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { Millis } from '../../core/time.ts';
import type { Executor } from './client.ts';

/**
 * Now, for due times. Truncated, because timestamp columns round to milliseconds, and a rounded-up time would not be
 * due yet.
 */
export const dueNow: SQL = sql`date_trunc('milliseconds', clock_timestamp())`;

/**
 * Now, for index conditions. It is constant within a statement, so the index scan reads only due rows, however many
 * wait.
 */
export const nowInStatement: SQL = sql`statement_timestamp()`;

/** Now, for due times of several rows: the same for all rows of a statement. Truncated for the same reason. */
export const dueNowInStatement: SQL = sql`date_trunc('milliseconds', statement_timestamp())`;

/** The time of the database. */
export async function nowOf(executor: Executor): Promise<Millis> {
  const [row] = await executor.execute<{ now: Millis }>(sql`select ${millis(sql`clock_timestamp()`)} as now`);
  if (row === undefined) throw new Error('The database did not say what time it is.');
  return row.now;
}

/** How long a wake-up may take before a sweep checks the context, in milliseconds. */
export const WAKE_UP_GRACE_MS = 1_000;

/** A timestamp as milliseconds since the epoch. */
export function millis(column: SQLWrapper): SQL<Millis> {
  return sql<Millis>`floor(extract(epoch from ${column}) * 1000)::float8`;
}

/** Milliseconds as text that PostgreSQL reads as a timestamp; null stays null. */
export function toTimestamp(time: Millis | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
