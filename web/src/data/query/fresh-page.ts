/**
 * Puts a page that was read again into a loaded list. Pure functions. Most lists are ordered by id, newest first: a page
 * after the first keeps its range, and new items push items off the first page. In a list by activity, items that change
 * come to the first page.
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

/**
 * For a list by activity: what is fresh on the first page was changed, and is no more elsewhere. Null: read the whole list
 * again.
 */
export function withFreshTop<One extends Item & { updated_at: string }>(
  list: Pages<One>,
  fresh: Listed<One>,
): Pages<One> | null {
  const [top, ...others] = list.pages;
  if (top === undefined) return null;
  if (others.length === 0) return { ...list, pages: [fresh] };
  const there = new Set(fresh.data.map(({ id }) => id));
  const last = fresh.data.at(-1);
  if (last === undefined || !top.data.some(({ id }) => there.has(id))) return null;
  // Those that were pushed off; what is missing among the fresh ones is gone.
  const pushed = top.data.filter(({ id, updated_at }) => !there.has(id) && updated_at <= last.updated_at);
  const first = { ...top, data: [...fresh.data, ...pushed] };
  if (first.data.length > MOST_ON_FIRST) return null;
  const rest = others.map((page) => ({ ...page, data: page.data.filter(({ id }) => !there.has(id)) }));
  return { ...list, pages: [first, ...rest] };
}

/**
 * For a list in another order, or with gaps: puts fresh items in the place of those that are known, since a page that was
 * read again does not continue at the next one. Only a list of one page also gains and loses items.
 */
export function withFreshItems<One extends Item>(list: Pages<One>, fresh: Listed<One>): Pages<One> {
  if (list.pages.length === 1) return { ...list, pages: [fresh] };
  const byId = new Map(fresh.data.map((one) => [one.id, one]));
  return {
    ...list,
    pages: list.pages.map((page) => ({ ...page, data: page.data.map((one) => byId.get(one.id) ?? one) })),
  };
}

/** The cursor of the page that contains an item; undefined: of the first page. */
export function cursorOfPageWith<One extends Item>({ pages, pageParams }: Pages<One>, id: string | null) {
  const at = pages.findIndex(({ data }) => data.some((one) => one.id === id));
  return pageParams[at];
}
