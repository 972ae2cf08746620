/** Paginated lists. */

type List<Item> = { data: Item[]; next_cursor: string | null };

/** Iterates over all items (`for await (const item of …)`) and requests each page when needed. */
export type Pages<Item> = AsyncIterable<Item> & {
  /** Only the page that the query selects: the first one, or the one at `cursor`. */
  page(): Promise<List<Item>>;
  /** All items in one array. */
  all(): Promise<Item[]>;
};

/** `ask` requests the page at a cursor; without one, the page that the query selects. */
export function pagesOf<Item>(ask: (more: { cursor?: string }) => Promise<List<Item>>): Pages<Item> {
  async function* items(): AsyncGenerator<Item, void, undefined> {
    for (let page = await ask({}); ; page = await ask({ cursor: page.next_cursor })) {
      yield* page.data;
      if (page.next_cursor === null) return;
    }
  }
  return {
    [Symbol.asyncIterator]: items,
    page: () => ask({}),
    async all() {
      const all: Item[] = [];
      for await (const item of items()) all.push(item);
      return all;
    },
  };
}
