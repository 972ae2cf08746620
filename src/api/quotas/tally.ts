/** Counts by key what goes on at the same time. */
export type Tally<Key> = {
  of(key: Key): number;
  /** Returns a function that ends it; calling it again has no effect. */
  begin(key: Key): () => void;
};

export function createTally<Key>(): Tally<Key> {
  const counts = new Map<Key, number>();
  const add = (key: Key, more: number): void => {
    const count = (counts.get(key) ?? 0) + more;
    if (count === 0) counts.delete(key);
    else counts.set(key, count);
  };
  return {
    of: (key) => counts.get(key) ?? 0,
    begin(key) {
      let isOn = true;
      add(key, 1);
      return () => {
        if (isOn) add(key, -1);
        isOn = false;
      };
    },
  };
}
