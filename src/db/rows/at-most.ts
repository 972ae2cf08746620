import { sql, type SQL } from 'drizzle-orm';

/**
 * A limit that the planner does not know. It then expects a tenth of the rows and takes the index in whose order they are
 * wanted; with a known limit above the number of rows that it expects, it reads and sorts all of them.
 */
export function atMost(count: number): SQL {
  return sql`(select ${count}::bigint)`;
}
