/**
 * Statistics of a tenant's ended jobs over time. Counts and sums are exact, from an index that is written when a job
 * ends. Durations of model calls come from a sample, the last answers of the last jobs of each bucket, so that the
 * number of messages read stays bounded.
 */
import { sql } from 'drizzle-orm';
import type { TenantId } from '../../../core/ids.ts';
import type { FinishedStatus } from '../../../core/run/job.ts';
import type { Millis } from '../../../core/time.ts';
import type { Usage } from '../../../core/money/usage.ts';
import type { Executor } from '../../connection/client.ts';
import { toTimestamp } from '../../connection/instant.ts';
import { toUsage } from '../../model-calls/usage.ts';

/** `count` buckets of `bucketMs` each, starting at `from`. */
export type Buckets = { from: Millis; bucketMs: number; count: number };

/** In milliseconds. */
export type Quantiles = { p50: number; p95: number };

export type BucketView = {
  finished: Record<FinishedStatus, number>;
  steps: number;
  usage: Usage;
  /** From the submission of a job to its start. Null, like the others: no data. */
  start: Quantiles | null;
  firstToken: Quantiles | null;
  model: Quantiles | null;
};

/** Sample sizes: jobs in all buckets, jobs in one bucket, and answers per job. */
const SAMPLED = 5_000;
const MOST_SAMPLED = 100;
const ANSWERS = 10;

type Row = Record<FinishedStatus, number> &
  Usage & {
    steps: number;
    start: [number, number] | null;
    first_token: [number, number] | null;
    model: [number, number] | null;
  };

const ms = (later: string, earlier: string) =>
  sql.raw(`greatest(0, extract(epoch from ${later} - ${earlier})::float8 * 1000)`);

/** Must run in a transaction, because it switches JIT off: compiling would take longer than reading. */
export async function readHistory(
  tx: Executor,
  tenantId: TenantId,
  { from, bucketMs, count }: Buckets,
): Promise<BucketView[]> {
  const sample = Math.max(1, Math.min(MOST_SAMPLED, Math.floor(SAMPLED / count)));
  const start = sql`${toTimestamp(from)}::timestamptz`;
  const step = sql`${bucketMs}::float8 * interval '1 millisecond'`;
  const [, rows] = await Promise.all([
    tx.execute(sql`select set_config('jit', 'off', true)`),
    tx.execute<Row>(sql`/* stats.history */
    with buckets as (
      select n, ${start} + n * ${step} as lo, ${start} + (n + 1) * ${step} as hi
      from generate_series(0, ${count - 1}::int) n
    )
    select ended.*, called.first_token, called.model
    from buckets b
    cross join lateral (
      select count(*) filter (where j.status = 'completed')::int as completed,
        count(*) filter (where j.status = 'incomplete')::int as incomplete,
        count(*) filter (where j.status = 'failed')::int as failed,
        count(*) filter (where j.status = 'cancelled')::int as cancelled,
        count(*) filter (where j.status = 'interrupted')::int as interrupted,
        coalesce(sum(j.steps), 0)::float8 as steps, coalesce(sum(j.input_tokens), 0)::float8 as input_tokens,
        coalesce(sum(j.output_tokens), 0)::float8 as output_tokens,
        coalesce(sum(j.cache_read_tokens), 0)::float8 as cache_read_tokens,
        coalesce(sum(j.cache_write_tokens), 0)::float8 as cache_write_tokens, sum(j.cost_nanos)::bigint as cost_nanos,
        to_jsonb(percentile_cont(array[0.5, 0.95]) within group (
          order by ${ms('j.started_at', 'greatest(j.created_at, j.starts_at)')}) filter (where j.started_at is not null)) as start
      from jobs j where j.tenant_id = ${tenantId} and j.finished_at >= b.lo and j.finished_at < b.hi) ended
    cross join lateral (
      select to_jsonb(percentile_cont(array[0.5, 0.95]) within group (
          order by ${ms('a.first_byte_at', 'a.called_at')}) filter (where a.first_byte_at is not null)) as first_token,
        to_jsonb(percentile_cont(array[0.5, 0.95]) within group (order by ${ms('a.completed_at', 'a.called_at')})) as model
      from (
        select j.id, j.context_id, j.branch, j.first_seq, j.last_seq from jobs j
        where j.tenant_id = ${tenantId} and j.finished_at >= b.lo and j.finished_at < b.hi
        order by j.finished_at desc limit ${sample}) s
      cross join lateral (
        select m.called_at, m.first_byte_at, m.completed_at from messages m
        where m.context_id = s.context_id and m.branch = s.branch and m.seq > s.first_seq and m.seq <= s.last_seq
          and m.tenant_id = ${tenantId} and m.job_id = s.id and m.role = 'assistant' and m.called_at is not null
          and m.completed_at is not null
        order by m.seq desc limit ${ANSWERS}) a) called
    order by b.n`),
  ]);
  return rows.map(toView);
}

function toView(row: Row): BucketView {
  const { completed, incomplete, failed, cancelled, interrupted } = row;
  return {
    finished: { completed, incomplete, failed, cancelled, interrupted },
    steps: row.steps,
    usage: toUsage(row),
    start: toQuantiles(row.start),
    firstToken: toQuantiles(row.first_token),
    model: toQuantiles(row.model),
  };
}

function toQuantiles(column: [number, number] | null): Quantiles | null {
  return column === null ? null : { p50: column[0], p95: column[1] };
}
