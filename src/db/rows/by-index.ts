/** Conditions and limits by which PostgreSQL takes the index that a statement is written for, whatever its statistics say. */
import { sql, type SQL } from 'drizzle-orm';

/**
 * Equality, in a statement whose order begins with the column. With `=`, the planner may take an index of another order that
 * it believes to be cheaper, and pass over the rows of all other values.
 */
export function isExactly(column: SQL, value: SQL): SQL {
  return sql`${column} >= ${value} and ${column} <= ${value}`;
}

/**
 * A limit that the planner does not know. It then expects a tenth of the rows and takes the index in whose order they are
 * wanted; with a known limit above the number of rows that it expects, it reads and sorts all of them.
 */
export function atMost(count: number): SQL {
  return sql`(select ${count}::bigint)`;
}
