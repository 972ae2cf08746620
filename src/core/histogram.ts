/**
 * Quantiles of histograms whose buckets count the values up to a bound. Within a bucket the values are taken as evenly
 * spread, so a quantile is as exact as its bucket is narrow.
 */

/** `count`: of all values up to `bound`. The last bound is infinite. */
export type Bucket = { bound: number; count: number };

export type Quantiles = { p50: number; p95: number };

/** Of the values of all histograms together; null: there are none. Their bounds may differ. */
export function quantilesOf(histograms: readonly (readonly Bucket[])[]): Quantiles | null {
  const merged = merge(histograms);
  const total = merged.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  return { p50: valueAt(merged, total * 0.5), p95: valueAt(merged, total * 0.95) };
}

/** The buckets sorted, each with the values of its own. Ignores impossible counts. */
function merge(histograms: readonly (readonly Bucket[])[]): Bucket[] {
  const counts = new Map<number, number>();
  for (const histogram of histograms) {
    let below = 0;
    for (const { bound, count } of [...histogram].sort(byBound)) {
      counts.set(bound, (counts.get(bound) ?? 0) + Math.max(0, count - below));
      below = Math.max(below, count);
    }
  }
  return [...counts].map(([bound, count]) => ({ bound, count })).sort(byBound);
}

/** Above the last finite bound it is that bound: the value is at least as high. */
function valueAt(merged: readonly Bucket[], rank: number): number {
  let [from, below] = [0, 0];
  for (const { bound, count } of merged) {
    if (bound === Infinity) break;
    if (below + count >= rank) return from + (bound - from) * ((rank - below) / count);
    from = bound;
    below += count;
  }
  return from;
}

function byBound(a: Bucket, b: Bucket): number {
  return a.bound === b.bound ? 0 : a.bound - b.bound;
}
