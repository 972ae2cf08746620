/** The prices of the config file: US dollars per million tokens, by model and by kind of token. */
import type { Static } from 'typebox';
import { parsePrice } from '../../../core/money/money.ts';
import type { Price as PicoPrice, Prices as PicoPrices } from '../../../core/money/cost.ts';
import { strict } from '../../../schema/build.ts';
import { Price, byName, formatted } from '../file-validator.ts';

/** All four fields are required; a missing price would make costs wrong. */
const ModelPrice = strict({
  /** Input tokens that were neither read from nor written to a cache. */
  input: Price,
  output: Price,
  cache_read: Price,
  cache_write: Price,
});

/** US dollars per million tokens, with at most six decimals. Set 0 for what the provider does not charge. */
export type PriceDefinition = Static<typeof ModelPrice>;

/** By `provider/model`. */
export const Prices = byName(formatted('model'), ModelPrice);

export function toPrices(prices: Static<typeof Prices>): PicoPrices {
  return new Map(Object.entries(prices).map(([model, price]) => [model, toPrice(price)]));
}

function toPrice({ input, output, cache_read, cache_write }: PriceDefinition): PicoPrice {
  return {
    input: picos(input),
    output: picos(output),
    cacheRead: picos(cache_read),
    cacheWrite: picos(cache_write),
  };
}

function picos(dollars: number): number {
  const price = parsePrice(dollars);
  if (price === null) throw new Error(`${dollars} is not a price.`);
  return price;
}
