/**
 * One page of a list. Pages are also limited in bytes. Rows beyond the limit are not read and start the next page; an
 * oversized row is returned alone.
 */
import { sql, type SQL } from 'drizzle-orm';

/** Limit of one page, as stored. */
export const PAGE_BYTES = 4 * 1024 * 1024;

/**
 * `more`: rows were left for the next page because of the byte limit, even if this page has fewer than `limit` items.
 */
export type Page<Item> = { items: Item[]; more: boolean };

/** The page that follows the item `after` in the order of the list, with at most `limit` items. */
export type PageRequest<Cursor> = { after: Cursor; limit: number };

/** In every row: how many rows the page has without the byte limit. */
export type OfPage = { total: number };

/** The rows of `page`, which has a column `bytes`, that fit. `order`: the order of the page, by columns of `p`. */
export function withinBytes(page: SQL, order: SQL): SQL {
  const window = sql`(order by ${order} rows unbounded preceding)`;
  return sql`select p.* from (
      select p.*, sum(p.bytes) over ${window} as upto, row_number() over ${window} as place,
        (count(*) over ())::int as total
      from (${page}) p
    ) p where p.place = 1 or p.upto <= ${PAGE_BYTES} order by ${order}`;
}

export function toPage<Row extends OfPage, Item>(rows: readonly Row[], toItem: (row: Row) => Item): Page<Item> {
  return { items: rows.map(toItem), more: isCut(rows) };
}

export function isCut(rows: readonly OfPage[]): boolean {
  return (rows[0]?.total ?? 0) > rows.length;
}
