/** Token counts and cost. */
import { formatCost } from './cost.ts';
import { uiWords } from '../../words.ts';

const full = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

const percent = new Intl.NumberFormat('en', { style: 'percent' });

export type UsageShown = {
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cache_hit_ratio: number | null;
  cost?: string | null;
};

/** `1.2K in, 95% cached · 340 out · $0.01`; the title has the exact numbers. */
export function Tokens({ usage }: { usage: UsageShown }) {
  const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cache_hit_ratio, cost } = usage;
  const read = input_tokens + cache_read_tokens + cache_write_tokens;
  const exact = uiWords.tokens.exact({
    input: full.format(input_tokens),
    output: full.format(output_tokens),
    cacheRead: full.format(cache_read_tokens),
    cacheWrite: full.format(cache_write_tokens),
  });
  const title = cost === undefined || cost === null ? exact : `${exact}, $${cost}`;
  return (
    <span title={title}>
      {uiWords.tokens.input(short.format(read))}
      {cache_hit_ratio !== null &&
        cache_hit_ratio > 0 &&
        `, ${uiWords.tokens.cached(percent.format(cache_hit_ratio))}`}{' '}
      · {uiWords.tokens.output(short.format(output_tokens))}
      {cost !== undefined && cost !== null && ` · ${formatCost(cost)}`}
    </span>
  );
}

export function formatCount(count: number): string {
  return short.format(count);
}

/** Every digit. */
export function formatFull(count: number): string {
  return full.format(count);
}

/** `share`: from 0 to 1. */
export function formatShare(share: number): string {
  return percent.format(share);
}
