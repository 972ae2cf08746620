/** Parses the prices of the config file: US dollars per million tokens, by model and by kind of token. */
import { MOST_PRICE, parsePrice } from '../../core/money/money.ts';
import type { Price, Prices } from '../../core/money/cost.ts';
import { entriesOf, fault, members, required } from './member.ts';
import type { Member } from './member.ts';
import { model } from './parse-model.ts';

const PRICE = { what: 'a price', known: ['input', 'output', 'cache_read', 'cache_write'] };

export function parsePrices(member: Member): Prices | null {
  const entries = entriesOf(member);
  if (entries === null) return null;
  const read = entries.map((entry): [string, Price] | null => {
    const name = model({ ...entry, value: entry.key });
    const price = parsePriceOf(entry);
    return name === null || price === null ? null : [name, price];
  });
  return new Map(read.filter((entry) => entry !== null));
}

/** All four fields are required; a missing price would make costs wrong. */
function parsePriceOf(member: Member): Price | null {
  const of = members(member, PRICE);
  if (of === null) return null;
  const input = required(of('input'), dollars);
  const output = required(of('output'), dollars);
  const cacheRead = required(of('cache_read'), dollars);
  const cacheWrite = required(of('cache_write'), dollars);
  const isWhole = input !== null && output !== null && cacheRead !== null && cacheWrite !== null;
  return isWhole ? { input, output, cacheRead, cacheWrite } : null;
}

function dollars(member: Member): number | null {
  const { value } = member;
  const price = typeof value === 'number' ? parsePrice(value) : null;
  return (
    price ??
    fault(
      member,
      `must be US dollars per million tokens: a number from 0 to ${MOST_PRICE} with at most six decimals`,
    )
  );
}
