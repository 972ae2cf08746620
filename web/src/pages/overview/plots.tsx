/** Charts of finished jobs, latency, tokens and cost. */
import type { StatsBucket, StatsHistory } from 'nightshift/client';
import { formatDuration } from '../../ui/text/time.tsx';
import { addCosts, formatCost } from '../../ui/text/cost.ts';
import { formatCount } from '../../ui/text/tokens.tsx';
import css from './overview.module.css';
import { Plot, type Series } from './plot.tsx';

const ENDED: readonly Series[] = [
  { name: 'Completed', colour: 'var(--plot-green)', of: ({ finished }) => finished.completed },
  { name: 'Incomplete', colour: 'var(--plot-amber)', of: ({ finished }) => finished.incomplete },
  { name: 'Failed', colour: 'var(--plot-red)', of: ({ finished }) => finished.failed },
  {
    name: 'Cancelled or interrupted',
    colour: 'var(--plot-grey)',
    of: ({ finished }) => finished.cancelled + finished.interrupted,
  },
];

const TIMES: readonly Series[] = [
  { name: 'Queue time, median', colour: 'var(--plot-grey)', of: ({ start_ms }) => start_ms?.p50 ?? null },
  {
    name: 'Time to first token, median',
    colour: 'var(--plot-blue)',
    of: ({ first_token_ms }) => first_token_ms?.p50 ?? null,
  },
  {
    name: 'Time to first token, p95',
    colour: 'var(--plot-blue)',
    dashed: true,
    of: ({ first_token_ms }) => first_token_ms?.p95 ?? null,
  },
  { name: 'Model call, median', colour: 'var(--plot-violet)', of: ({ model_ms }) => model_ms?.p50 ?? null },
  {
    name: 'Model call, p95',
    colour: 'var(--plot-violet)',
    dashed: true,
    of: ({ model_ms }) => model_ms?.p95 ?? null,
  },
];

const TOKENS: readonly Series[] = [
  { name: 'Input', colour: 'var(--plot-blue)', of: ({ usage }) => usage.input_tokens },
  {
    name: 'Cache reads and writes',
    colour: 'var(--plot-grey)',
    of: ({ usage }) => usage.cache_read_tokens + usage.cache_write_tokens,
  },
  { name: 'Output', colour: 'var(--plot-violet)', of: ({ usage }) => usage.output_tokens },
];

const COST: readonly Series[] = [
  {
    name: 'Cost',
    colour: 'var(--plot-green)',
    of: ({ usage }) => (usage.cost === null ? null : Number(usage.cost)),
  },
];

export function Plots({ history }: { history: StatsHistory }) {
  const { data } = history;
  const sum = (of: (bucket: StatsBucket) => number): number => data.reduce((total, bucket) => total + of(bucket), 0);
  const jobs = sum(({ finished }) => Object.values(finished).reduce((total, count) => total + count, 0));
  const failed = sum(({ finished }) => finished.failed);
  const cost = data.map(({ usage }) => usage.cost).reduce(addCosts, null);
  const share = jobs === 0 ? '' : `, ${Math.round((100 * failed) / jobs)}% failed`;
  return (
    <div className={css.plots}>
      <Plot
        title="Finished jobs"
        about={`${formatCount(jobs)} in total${share}`}
        kind="bars"
        series={ENDED}
        history={history}
        format={(value) => formatCount(value)}
      />
      <Plot
        title="Latency"
        about="Queue time of jobs, time to first token and duration of model calls"
        kind="lines"
        series={TIMES}
        history={history}
        format={(value) => formatDuration(value)}
      />
      <Plot
        title="Tokens"
        about={`${formatCount(sum(({ usage }) => usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens))} input, ${formatCount(sum(({ usage }) => usage.output_tokens))} output`}
        kind="bars"
        series={TOKENS}
        history={history}
        format={(value) => formatCount(value)}
      />
      <Plot
        title="Cost"
        about={cost === null ? 'None of the used models has a price.' : `${formatCost(cost)} in total`}
        kind="bars"
        series={COST}
        history={history}
        format={(value) => formatCost(String(value))}
      />
    </div>
  );
}
