/** What the job cost. */
import type { Usage } from 'nightshift/client';
import { Card } from '../../../ui/layout/card.tsx';
import { formatCost } from '../../../ui/text/cost.ts';
import { formatFull, formatShare } from '../../../ui/text/tokens.tsx';
import { jobWords } from '../../../words.ts';
import { Fact } from '../fact.tsx';
import css from '../job.module.css';

const words = jobWords.overview;

export function UsageCard({ usage }: { usage: Usage }) {
  const { cost, cache_hit_ratio: ratio } = usage;
  return (
    <Card title={words.usage}>
      <dl className={css.list}>
        <Fact name={words.cost}>
          {cost === null ? words.noPrice : <span title={`$${cost}`}>{formatCost(cost)}</span>}
        </Fact>
        <Fact name={words.input}>{formatFull(usage.input_tokens)}</Fact>
        <Fact name={words.cacheRead}>{formatFull(usage.cache_read_tokens)}</Fact>
        <Fact name={words.cacheWrite}>{formatFull(usage.cache_write_tokens)}</Fact>
        <Fact name={words.cacheHits}>{ratio === null ? jobWords.facts.none : formatShare(ratio)}</Fact>
        <Fact name={words.output}>{formatFull(usage.output_tokens)}</Fact>
      </dl>
    </Card>
  );
}
