/** Lists of the API: reads as many rows as were asked for, prints them, and tells when there are more. */
import { print, type Cli, type Common } from './cli.ts';
import { table, type Column } from './terminal/table.ts';

/** Rows in a page of the API, at most. */
const LARGEST_PAGE = 200;
/** Among so many of the newest rows an id is found by a part of it, so a list of these shows short ids. */
const NEWEST = 1_000;

/** The size of a page for `limit` rows: with one more, to know whether there are more. */
export function pageSize(limit: number): number {
  return Math.min(limit + 1, LARGEST_PAGE);
}

/** The first items of a paged list. Fetches only as many pages as needed. */
export async function first<Item>(items: AsyncIterable<Item>, most: number): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) {
    found.push(item);
    if (found.length >= most) break;
  }
  return found;
}

/** `none`: the text if there are no rows. */
export type List<Row> = {
  columns: readonly Column<Row>[];
  none: string;
};

/** `filtered`: the rows may be older than the newest ones, so their ids are shown whole. */
type Shown = { filtered?: boolean };

/** Prints the first rows of a paged list. */
export async function printList<Row>(
  cli: Cli,
  options: Common & { limit: number },
  rows: AsyncIterable<Row>,
  list: List<Row> & Shown,
): Promise<void> {
  const { limit } = options;
  const read = await first(rows, limit + 1);
  const data = read.slice(0, limit);
  print(cli, options, { data }, listText(cli, data, list));
  if (read.length > limit && options.json !== true) cli.screen.note(moreText(cli, limit));
}

/** Tells that there are more rows, and how to see them. */
export function moreText({ screen }: Pick<Cli, 'screen'>, limit: number): string {
  return screen.sideInk('dim', `There are more. Show up to ${limit * 5}: --limit ${limit * 5}`);
}

export function listText<Row>({ screen }: Cli, rows: readonly Row[], { columns, none, filtered }: List<Row> & Shown) {
  if (rows.length === 0) return `${none}\n`;
  const shortIds = screen.isTerminal && filtered !== true && rows.length <= NEWEST;
  return table(columns, rows, { ink: screen.ink, screen: screen.columns, shortIds });
}
