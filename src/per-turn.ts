/** Collects what is added during one turn of the event loop. */
export type PerTurn<Item> = {
  add: (item: Item) => void;
  /** Sends now what was added. */
  flush: () => void;
};

/** `send` gets at least one item, in the order in which they were added. */
export function perTurn<Item>(send: (items: Item[]) => void): PerTurn<Item> {
  let added: Item[] = [];

  function flush(): void {
    const items = added;
    added = [];
    if (items.length > 0) send(items);
  }

  return {
    add(item) {
      if (added.push(item) === 1) setImmediate(flush);
    },
    flush,
  };
}
