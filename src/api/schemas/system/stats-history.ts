/** Throughput and durations over time, for charts. */
import { Type, type Static } from 'typebox';
import { Count, Instant, Positive, Usage, described } from '../common.ts';
import { nullable, ref, strict } from '../../../schema/build.ts';

/** Maximum number of buckets in one response. */
export const MOST_BUCKETS = 500;

export const Quantiles = strict(
  { p50: Type.Number({ minimum: 0 }), p95: Type.Number({ minimum: 0 }) },
  { $id: 'Quantiles', description: 'Milliseconds.' },
);

export const StatsBucket = strict(
  {
    at: described(Instant, 'Start of the bucket.'),
    finished: strict({
      completed: Count,
      incomplete: Count,
      failed: Count,
      cancelled: Count,
      interrupted: Count,
    }),
    steps: described(Count, 'Model calls of these jobs.'),
    usage: ref(Usage),
    start_ms: nullable(ref(Quantiles)),
    first_token_ms: nullable(ref(Quantiles)),
    model_ms: nullable(ref(Quantiles)),
  },
  { $id: 'StatsBucket', description: 'Figures of the jobs that finished in this bucket. Null: no data.' },
);

export const StatsHistory = strict(
  { from: Instant, to: Instant, bucket_s: Positive, data: Type.Array(ref(StatsBucket)) },
  {
    $id: 'StatsHistory',
    description:
      'Counts and tokens are exact. first_token_ms and model_ms come from a sample of the last jobs of each bucket.',
  },
);
export type StatsHistory = Static<typeof StatsHistory>;

export const HistoryQuery = strict({
  from: Type.Optional(described(Instant, 'Default: one day before `to`.')),
  to: Type.Optional(described(Instant, 'Default: now.')),
  bucket: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 31_622_400,
      description: `Length of a bucket in seconds. Default: about sixty buckets. At most ${MOST_BUCKETS} buckets.`,
    }),
  ),
});
