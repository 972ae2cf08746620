/** US dollars, as the API tells them: decimals, or null where no price is known. */

const small = new Intl.NumberFormat('en', { maximumSignificantDigits: 2, useGrouping: false });

/** Cents, and of less than a dollar two digits that count. */
export function formatCost(cost: string): string {
  const dollars = Number(cost);
  const short = small.format(dollars);
  return Number(short) < 1 ? `$${short}` : `$${dollars.toFixed(2)}`;
}

/** Of what is known; null: nothing is. Added in billionths, which are whole. */
export function addCosts(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return ((nanos(one) + nanos(other)) / 1e9).toFixed(9);
}

function nanos(cost: string): number {
  return Math.round(Number(cost) * 1e9);
}
