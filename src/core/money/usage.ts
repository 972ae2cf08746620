/** Tokens of one model call, or their sum over a job or a context, and their cost. */
import { formatDollars } from './money.ts';

/** `input_tokens` excludes tokens read from caches. */
export type Tokens = {
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
};

export type Usage = Tokens & {
  /** Billionths of a US dollar, counting only calls with a known price; null: no price is known. */
  cost_nanos: number | null;
};

/** The form that clients get: dollars as a decimal number. */
export type PublicUsage = Tokens & { cache_hit_ratio: number | null; cost: string | null };

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

/** An unknown cost adds nothing. */
function addCosts(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : a + b;
}

export function toPublicUsage({ cost_nanos, ...tokens }: Usage): PublicUsage {
  const cost = cost_nanos === null ? null : formatDollars(cost_nanos);
  return { ...tokens, cache_hit_ratio: cacheHitRatio(tokens), cost };
}

/** The share of prompt tokens read from caches, from 0 to 1 with four decimals; null: there were no prompt tokens. */
export function cacheHitRatio({
  input_tokens,
  cache_read_tokens,
  cache_write_tokens,
}: Omit<Tokens, 'output_tokens'>): number | null {
  const prompt = input_tokens + cache_read_tokens + cache_write_tokens;
  return prompt === 0 ? null : Math.round((cache_read_tokens / prompt) * 10_000) / 10_000;
}
