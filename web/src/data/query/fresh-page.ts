/**
 * Puts a page that was read again into a loaded list. Lists are ordered by id, newest first: a page after the first keeps
 * its range, and new items push items off the first page. Pure functions.
 */

type Item = { id: string };
export type Listed<One> = { data: One[]; next_cursor: string | null };
/** `pageParams`: the cursor of each page. */
export type Pages<One extends Item> = { pages: Listed<One>[]; pageParams: (string | undefined)[] };

/** A first page that grew beyond this number of items is split again by reading the whole list. */
const MOST_ON_FIRST = 200;

/** Null: read the whole list again. `cursor`: of the page. */
export function withFreshPage<One extends Item>(
  list: Pages<One>,
  cursor: string | undefined,
  fresh: Listed<One>,
): Pages<One> | null {
  const at = list.pageParams.indexOf(cursor);
  const before = list.pages[at];
  if (before === undefined) return null;
  if (list.pages.length === 1) return { ...list, pages: [fresh] };
  const page = at === 0 ? joined(before.data, fresh.data) : fresh.data;
  if (page === null) return null;
  const elsewhere = new Set(list.pages.flatMap(({ data }, other) => (other === at ? [] : data.map(({ id }) => id))));
  const isLast = at === list.pages.length - 1;
  const renewed = {
    data: page.filter(({ id }) => !elsewhere.has(id)),
    next_cursor: isLast ? fresh.next_cursor : before.next_cursor,
  };
  return { ...list, pages: list.pages.with(at, renewed) };
}

/** The items of the first page, with those that new items pushed off it. Null: it lies before all that is known. */
function joined<One extends Item>(before: readonly One[], fresh: readonly One[]): One[] | null {
  const known = new Set(before.map(({ id }) => id));
  const last = fresh.at(-1);
  if (last === undefined || !fresh.some(({ id }) => known.has(id))) return null;
  const page = [...fresh, ...before.filter(({ id }) => id < last.id)];
  return page.length > MOST_ON_FIRST ? null : page;
}

/** The cursor of the page that contains an item; undefined: of the first page. */
export function cursorOfPageWith<One extends Item>({ pages, pageParams }: Pages<One>, id: string | null) {
  const at = pages.findIndex(({ data }) => data.some((one) => one.id === id));
  return pageParams[at];
}
