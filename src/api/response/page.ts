/** Paginated lists. */
type Listing<Wire> = { data: Wire[]; next_cursor: string | null };

/** There is a next page if there are more than `limit` items, or if `more` is true. */
export function toListing<Item, Wire>(
  { items, more = false }: { items: readonly Item[]; more?: boolean },
  limit: number,
  toWire: (item: Item) => Wire,
  cursorOf: (item: Item) => string,
): Listing<Wire> {
  const page = items.slice(0, limit);
  const last = page.at(-1);
  return {
    data: page.map(toWire),
    next_cursor: (more || items.length > limit) && last !== undefined ? cursorOf(last) : null,
  };
}
