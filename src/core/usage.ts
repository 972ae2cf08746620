/** Tokens of one model call, or summed over a job or a context, and what they cost. */
import { formatDollars } from './money.ts';

/** `input_tokens` excludes what caches served. */
export type Tokens = {
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
};

export type Usage = Tokens & {
  /** Billionths of a US dollar, as far as prices are known; null: none of them is. */
  cost_nanos: number | null;
};

/** As clients are told of it: dollars, as a decimal. */
export type ToldUsage = Tokens & { cost: string | null };

export function unpriced(tokens: Tokens): Usage {
  return { ...tokens, cost_nanos: null };
}

export const NO_USAGE: Usage = unpriced({
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
});

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cache_read_tokens: a.cache_read_tokens + b.cache_read_tokens,
    cache_write_tokens: a.cache_write_tokens + b.cache_write_tokens,
    cost_nanos: addCosts(a.cost_nanos, b.cost_nanos),
  };
}

/** What is not known adds nothing. */
function addCosts(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : a + b;
}

export function tellUsage({ cost_nanos, ...tokens }: Usage): ToldUsage {
  return { ...tokens, cost: cost_nanos === null ? null : formatDollars(cost_nanos) };
}
