/**
 * Remembers answers of the database for half a second, so that a client that sends many requests costs two look-ups a
 * second, and a credential that has ended is refused within a second. Requests that come at once share one look-up.
 */

/** In milliseconds. Together with `ASK_MS` of streams less than a second. */
const FRESH_MS = 450;
/** Answers that are kept, at most: keys may come from callers without access. */
const MOST_KEPT = 10_000;

type BriefCache<Key, Found> = {
  /** The answer for this key. A failed look-up is not remembered. */
  get(key: Key): Promise<Found>;
  forget(key: Key): void;
};

export function createBriefCache<Key, Found>(find: (key: Key) => Promise<Found>): BriefCache<Key, Found> {
  const remembered = new Map<Key, { until: number; found: Promise<Found> }>();
  return {
    get(key) {
      const fresh = remembered.get(key);
      if (fresh !== undefined && fresh.until > performance.now()) return fresh.found;
      const found = find(key);
      const [oldest] = remembered.keys();
      if (oldest !== undefined && remembered.size >= MOST_KEPT) remembered.delete(oldest);
      // Last in order, although an old answer may have been there.
      remembered.delete(key);
      const entry = { until: performance.now() + FRESH_MS, found };
      remembered.set(key, entry);
      found.catch(() => {
        if (remembered.get(key) === entry) remembered.delete(key);
      });
      return found;
    },
    forget: (key) => void remembered.delete(key),
  };
}
