/** The cost of a model call. Rounded once per call, so that sums are exact integers. */
import type { Tokens } from './usage.ts';

/** Trillionths of a US dollar per token of each kind. */
export type Price = { input: number; output: number; cacheRead: number; cacheWrite: number };

/** By `provider/model`, as written in configs. */
export type Prices = ReadonlyMap<string, Price>;

const PICOS_IN_NANO = 1_000n;

/** In billionths of a dollar, rounded half up. */
export function costOf(tokens: Tokens, price: Price): number {
  const picos =
    BigInt(tokens.input_tokens) * BigInt(price.input) +
    BigInt(tokens.output_tokens) * BigInt(price.output) +
    BigInt(tokens.cache_read_tokens) * BigInt(price.cacheRead) +
    BigInt(tokens.cache_write_tokens) * BigInt(price.cacheWrite);
  return Number((picos + PICOS_IN_NANO / 2n) / PICOS_IN_NANO);
}
