/** Job statistics over time. The number of buckets and the time they span are bounded. */
import type { Millis } from '../../../core/time.ts';
import { toPublicUsage } from '../../../core/money/usage.ts';
import {
  readHistory,
  type BucketView,
  type Buckets,
  type Quantiles,
} from '../../../db/read/installation/stats-history.ts';
import { LATEST, parseInstant, toIso } from '../../request/instant.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { invalid } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { ref } from '../../../schema/build.ts';
import { HistoryQuery, MOST_BUCKETS, StatsHistory } from '../../schemas/system/stats-history.ts';

const DAY_MS = 86_400_000;
const LONGEST_MS = 366 * DAY_MS;
const USUAL_BUCKETS = 60;

export function statsHistoryRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/stats/history',
    {
      config: { access: 'read', tokens: 'none' },
      schema: {
        summary: 'Finished jobs, their tokens and durations, over time',
        operationId: 'getStatsHistory',
        tags: ['system'],
        querystring: HistoryQuery,
        response: { 200: ref(StatsHistory) },
      },
    },
    async ({ tenantId, query }, reply) => {
      const to = parseInstant(query.to, 'to') ?? Date.now();
      const from = parseInstant(query.from, 'from') ?? Math.max(0, to - DAY_MS);
      const buckets = toBuckets(from, to, query.bucket ?? null);
      const views = await readerOf(ports, reply)((tx) => readHistory(tx, tenantId, buckets));
      return {
        from: toIso(from),
        to: toIso(Math.min(LATEST, from + buckets.count * buckets.bucketMs)),
        bucket_s: buckets.bucketMs / 1_000,
        data: views.map((view, place) => toBucket(view, from + place * buckets.bucketMs)),
      };
    },
  );
}

function toBuckets(from: Millis, to: Millis, bucketS: number | null): Buckets {
  const span = to - from;
  if (span <= 0) throw invalid('from must be earlier than to.', 'from');
  if (span > LONGEST_MS) throw invalid('from and to are more than 366 days apart. Choose a shorter period.', 'from');
  const bucketMs = 1_000 * (bucketS ?? Math.max(1, Math.ceil(span / USUAL_BUCKETS / 1_000)));
  const count = Math.ceil(span / bucketMs);
  if (count > MOST_BUCKETS)
    throw invalid(
      `bucket is too small: the period would have ${count} buckets, and ${MOST_BUCKETS} are allowed. Use a larger bucket or a shorter period.`,
      'bucket',
    );
  return { from, bucketMs, count };
}

function toBucket(view: BucketView, at: Millis): StatsHistory['data'][number] {
  return {
    at: toIso(at),
    finished: view.finished,
    steps: view.steps,
    usage: toPublicUsage(view.usage),
    start_ms: rounded(view.start),
    first_token_ms: rounded(view.firstToken),
    model_ms: rounded(view.model),
  };
}

function rounded(quantiles: Quantiles | null): Quantiles | null {
  return quantiles === null ? null : { p50: Math.round(quantiles.p50), p95: Math.round(quantiles.p95) };
}
