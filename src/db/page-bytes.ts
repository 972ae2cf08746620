/** A page is bounded by bytes, too: what is beyond is not read, and begins the next page. What is larger by itself comes alone. */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';

/** Of a page, as stored. */
export const PAGE_BYTES = 4 * 1024 * 1024;

/** `more`: something was left for the next page, whatever the number of these. */
export type Page<Item> = { items: Item[]; more: boolean };

/** With each row: how many its page would have had. */
export type OfPage = { total: number };

/** Of the rows of `page`, which have `bytes`, those that fit. `order`: that of the page, by columns of `p`. */
export function withinBytes(page: SQL, order: SQL): SQL {
  const window = sql`(order by ${order} rows unbounded preceding)`;
  return sql`select p.* from (
      select p.*, sum(p.bytes) over ${window} as upto, row_number() over ${window} as place,
        (count(*) over ())::int as total
      from (${page}) p
    ) p where p.place = 1 or p.upto <= ${PAGE_BYTES} order by ${order}`;
}

export function toPage<Row extends OfPage, Item>(
  rows: readonly Row[],
  toItem: (row: Row) => Item,
): Page<Item> {
  return { items: rows.map(toItem), more: isCut(rows) };
}

export function isCut(rows: readonly OfPage[]): boolean {
  return (rows[0]?.total ?? 0) > rows.length;
}
