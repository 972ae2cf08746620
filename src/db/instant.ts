/** Times between SQL and core, which counts milliseconds. */
import { sql } from 'drizzle-orm';
import type { SQL, SQLWrapper } from 'drizzle-orm';
import type { Millis } from '../core/time.ts';

/** Now, for what is due at once: columns round to milliseconds, and what they round up has not come yet for a moment. */
export const dueNow: SQL = sql`date_trunc('milliseconds', clock_timestamp())`;

/** Now, for what an index is asked: it stands still in a statement, so that only what has come is read, however much waits. */
export const nowInStatement: SQL = sql`statement_timestamp()`;

/** A timestamp as milliseconds since the epoch. */
export function millis(column: SQLWrapper): SQL<Millis> {
  return sql<Millis>`floor(extract(epoch from ${column}) * 1000)::float8`;
}

/** Milliseconds as text that Postgres reads as a timestamp; null stays null. */
export function toTimestamp(time: Millis | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
