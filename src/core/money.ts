/**
 * US dollars as whole numbers, so that sums are exact: costs in billionths (nanos), prices of a token in trillionths (picos).
 * Exact up to nine million dollars.
 */

const NANO_DECIMALS = 9;

/** A price is said in dollars for a million tokens: the millionths of that are trillionths for one. */
const PRICE_DECIMALS = 6;

/** Dollars for a million tokens. No call costs more than what is exact then: its tokens are counted in 32 bits. */
export const MOST_PRICE = 1_000;

/** `12.50`, `0.000345`: as many decimals as it takes, and two at least. */
export function formatDollars(nanos: number): string {
  const digits = String(nanos).padStart(NANO_DECIMALS + 1, '0');
  const decimals = digits.slice(-NANO_DECIMALS).replace(/0{1,7}$/, '');
  return `${digits.slice(0, -NANO_DECIMALS)}.${decimals}`;
}

/** The nanos of an amount in dollars. Null: it is no decimal, has more digits than are kept, or is beyond what is exact. */
export function parseDollars(text: string): number | null {
  const nanos = whole(text, NANO_DECIMALS);
  return nanos !== null && nanos <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(nanos) : null;
}

/** The picos of one token, of a price in dollars for a million. Null: no price can be that. */
export function parsePrice(dollars: number): number | null {
  const picos = dollars <= MOST_PRICE ? whole(String(dollars), PRICE_DECIMALS) : null;
  return picos === null ? null : Number(picos);
}

/** A decimal without its point. */
function whole(text: string, decimals: number): bigint | null {
  const [, units = '', rest = ''] = /^(\d{1,16})(?:\.(\d+))?$/.exec(text) ?? [];
  return units === '' || rest.length > decimals ? null : BigInt(units + rest.padEnd(decimals, '0'));
}
