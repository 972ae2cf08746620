/** Throughput and times, for plots. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Count, Instant, Usage, nullable, ref, strict } from './common.ts';

/** Buckets of one answer. */
export const MOST_BUCKETS = 500;

export const Quantiles = strict(
  { p50: Type.Number({ minimum: 0 }), p95: Type.Number({ minimum: 0 }) },
  { $id: 'Quantiles', description: 'Milliseconds.' },
);

export const StatsBucket = strict(
  {
    at: Type.String({ format: 'date-time', description: 'Its beginning.' }),
    finished: strict({
      completed: Count,
      incomplete: Count,
      failed: Count,
      cancelled: Count,
      interrupted: Count,
    }),
    steps: Type.Integer({ minimum: 0, description: 'Model calls of those jobs.' }),
    usage: ref(Usage),
    start_ms: nullable(ref(Quantiles)),
    first_token_ms: nullable(ref(Quantiles)),
    model_ms: nullable(ref(Quantiles)),
  },
  { $id: 'StatsBucket', description: 'Of the jobs that ended in it. Times null: there were none.' },
);

export const StatsHistory = strict(
  { from: Instant, to: Instant, bucket_s: Type.Integer({ minimum: 1 }), data: Type.Array(ref(StatsBucket)) },
  {
    $id: 'StatsHistory',
    description:
      'Counts and tokens are exact; first_token_ms and model_ms are of a sample of the last jobs of each bucket.',
  },
);
export type StatsHistory = Static<typeof StatsHistory>;

export const HistoryQuery = strict({
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'A day before `to` where it is not given.' }),
  ),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'Now where it is not given.' })),
  bucket: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 31_622_400,
      description: `Seconds of each; else about sixty buckets are made. There may be ${MOST_BUCKETS} of them.`,
    }),
  ),
});
