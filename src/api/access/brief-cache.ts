/**
 * Remembers answers of the database for half a second, so that a client that sends many requests costs two look-ups a
 * second, and a credential that has ended is refused within a second. Requests that come at once share one look-up.
 */

/** In milliseconds. Together with `ASK_MS` of streams less than a second. */
const FRESH_MS = 450;
/** Answers that are kept, at most: keys may come from callers without access. */
const MOST_KEPT = 10_000;

type BriefCache<Asked, Found> = {
  /** A failed look-up is not remembered. */
  get(asked: Asked): Promise<Found>;
  forget(asked: Asked): void;
};

/** `keyOf`: under what an answer is remembered. */
export function createBriefCache<Asked, Found>(
  find: (asked: Asked) => Promise<Found>,
  keyOf: (asked: Asked) => unknown = (asked) => asked,
): BriefCache<Asked, Found> {
  const remembered = new Map<unknown, { until: number; found: Promise<Found> }>();
  return {
    get(asked) {
      const key = keyOf(asked);
      const fresh = remembered.get(key);
      if (fresh !== undefined && fresh.until > performance.now()) return fresh.found;
      const found = find(asked);
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
    forget: (asked) => void remembered.delete(keyOf(asked)),
  };
}
