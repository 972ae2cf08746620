/** Charts of finished jobs, latency, tokens and cost. */
import type { StatsBucket, StatsHistory } from 'nightshift/client';
import { formatDuration } from '../../ui/text/time.tsx';
import { addCosts, formatCost } from '../../ui/text/cost.ts';
import { formatCount } from '../../ui/text/tokens.tsx';
import css from './overview.module.css';
import { Plot, type Series } from './plot.tsx';
import { overviewWords } from '../../words.ts';

const words = overviewWords;

const ENDED: readonly Series[] = [
  { name: words.jobs.completed, colour: 'var(--plot-green)', of: ({ finished }) => finished.completed },
  { name: words.jobs.incomplete, colour: 'var(--plot-amber)', of: ({ finished }) => finished.incomplete },
  { name: words.jobs.failed, colour: 'var(--plot-red)', of: ({ finished }) => finished.failed },
  {
    name: words.jobs.cancelled,
    colour: 'var(--plot-grey)',
    of: ({ finished }) => finished.cancelled + finished.interrupted,
  },
];

const TIMES: readonly Series[] = [
  { name: words.latency.queued, colour: 'var(--plot-grey)', of: ({ start_ms }) => start_ms?.p50 ?? null },
  {
    name: words.latency.firstToken,
    colour: 'var(--plot-blue)',
    of: ({ first_token_ms }) => first_token_ms?.p50 ?? null,
  },
  {
    name: words.latency.firstTokenP95,
    colour: 'var(--plot-blue)',
    dashed: true,
    of: ({ first_token_ms }) => first_token_ms?.p95 ?? null,
  },
  { name: words.latency.model, colour: 'var(--plot-violet)', of: ({ model_ms }) => model_ms?.p50 ?? null },
  {
    name: words.latency.modelP95,
    colour: 'var(--plot-violet)',
    dashed: true,
    of: ({ model_ms }) => model_ms?.p95 ?? null,
  },
];

const TOKENS: readonly Series[] = [
  { name: words.tokens.input, colour: 'var(--plot-blue)', of: ({ usage }) => usage.input_tokens },
  {
    name: words.tokens.cache,
    colour: 'var(--plot-grey)',
    of: ({ usage }) => usage.cache_read_tokens + usage.cache_write_tokens,
  },
  { name: words.tokens.output, colour: 'var(--plot-violet)', of: ({ usage }) => usage.output_tokens },
];

const COST: readonly Series[] = [
  {
    name: words.cost.title,
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
  const failedPercent = jobs === 0 ? null : Math.round((100 * failed) / jobs);
  const input = sum(({ usage }) => usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens);
  const output = sum(({ usage }) => usage.output_tokens);
  return (
    <div className={css.plots}>
      <Plot
        title={words.jobs.title}
        about={words.jobs.about(formatCount(jobs), failedPercent)}
        kind="bars"
        series={ENDED}
        history={history}
        format={(value) => formatCount(value)}
      />
      <Plot
        title={words.latency.title}
        about={words.latency.about}
        kind="lines"
        series={TIMES}
        history={history}
        format={(value) => formatDuration(value)}
      />
      <Plot
        title={words.tokens.title}
        about={words.tokens.about(formatCount(input), formatCount(output))}
        kind="bars"
        series={TOKENS}
        history={history}
        format={(value) => formatCount(value)}
      />
      <Plot
        title={words.cost.title}
        hasFractions
        about={cost === null ? words.cost.unknown : words.cost.about(formatCost(cost))}
        kind="bars"
        series={COST}
        history={history}
        format={(value) => formatCost(String(value))}
      />
    </div>
  );
}
