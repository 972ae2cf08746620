/** What a model call costs. Rounded once, with the call: whatever is summed is whole. */
import type { Tokens } from './usage.ts';

/** Trillionths of a US dollar for one token of each kind. */
export type Price = { input: number; output: number; cacheRead: number; cacheWrite: number };

/** By `provider/model`, as configs name it. */
export type Prices = ReadonlyMap<string, Price>;

const PICOS_IN_NANO = 1_000n;

/** In billionths of a dollar; half a one counts as one. */
export function costOf(tokens: Tokens, price: Price): number {
  const picos =
    BigInt(tokens.input_tokens) * BigInt(price.input) +
    BigInt(tokens.output_tokens) * BigInt(price.output) +
    BigInt(tokens.cache_read_tokens) * BigInt(price.cacheRead) +
    BigInt(tokens.cache_write_tokens) * BigInt(price.cacheWrite);
  return Number((picos + PICOS_IN_NANO / 2n) / PICOS_IN_NANO);
}
