/** Lists, page by page. */

type List<Item> = { data: Item[]; next_cursor: string | null };

/** All items, each page asked for when it is reached: `for await (const item of …)`. */
export type Pages<Item> = AsyncIterable<Item> & {
  /** The first page alone; with the `next_cursor` of one as `cursor` of the next query: that one. */
  page(): Promise<List<Item>>;
  /** All of them in one array. */
  all(): Promise<Item[]>;
};

/** `ask`: the page at a cursor; without one, the page that the query itself asks for. */
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
