/**
 * US dollars as integers, so that sums are exact: costs in billionths (nanos), prices per token in trillionths
 * (picos). Exact up to nine million dollars.
 */

const NANO_DECIMALS = 9;

/** Prices are given in dollars per million tokens; a millionth of that unit is a trillionth per token. */
const PRICE_DECIMALS = 6;

/**
 * Maximum price in dollars per million tokens. With it the cost of any call stays exact, since tokens are counted in
 * 32 bits.
 */
export const MOST_PRICE = 1_000;

/** `12.50`, `0.000345`: as many decimals as needed, at least two. */
export function formatDollars(nanos: number): string {
  const digits = String(nanos).padStart(NANO_DECIMALS + 1, '0');
  const decimals = digits.slice(-NANO_DECIMALS).replace(/0{1,7}$/, '');
  return `${digits.slice(0, -NANO_DECIMALS)}.${decimals}`;
}

/** The nanos of an amount in dollars. Null: not a decimal number, too many digits, or beyond the exact range. */
export function parseDollars(text: string): number | null {
  const nanos = whole(text, NANO_DECIMALS);
  return nanos !== null && nanos <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(nanos) : null;
}

/** The picos per token of a price in dollars per million tokens. Null: not a valid price. */
export function parsePrice(dollars: number): number | null {
  const picos = dollars <= MOST_PRICE ? whole(String(dollars), PRICE_DECIMALS) : null;
  return picos === null ? null : Number(picos);
}

/** A decimal number with its point removed. */
function whole(text: string, decimals: number): bigint | null {
  const [, units = '', rest = ''] = /^(\d{1,16})(?:\.(\d+))?$/.exec(text) ?? [];
  return units === '' || rest.length > decimals ? null : BigInt(units + rest.padEnd(decimals, '0'));
}
