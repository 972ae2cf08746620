/** Costs in US dollars, as decimal strings of the API; null if no price is known. */

const small = new Intl.NumberFormat('en', { maximumSignificantDigits: 2, useGrouping: false });

/** Two decimals; below one dollar two significant digits. */
export function formatCost(cost: string): string {
  const dollars = Number(cost);
  const short = small.format(dollars);
  return Number(short) < 1 ? `$${short}` : `$${dollars.toFixed(2)}`;
}

/** Sum of the known costs; null if both are unknown. Added as integer billionths to avoid rounding errors. */
export function addCosts(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return ((nanos(one) + nanos(other)) / 1e9).toFixed(9);
}

function nanos(cost: string): number {
  return Math.round(Number(cost) * 1e9);
}
