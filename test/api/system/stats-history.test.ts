// Throughput over time: which bucket a job counts in, the samples, and that the cost depends on the range and not on
// the stored rows.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_TENANT, type TenantId } from '../../../src/core/ids.ts';
import { readHistory } from '../../../src/db/read/installation/stats-history.ts';
import { explainingJit } from '../../services/explaining.ts';
import { tagOf } from '../../services/statements.ts';
import { addProcess, converse } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const DAY = 'from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z';

async function history(query: string): Promise<Body> {
  const { status, body } = await api.get(`/api/stats/history?${query}`);
  expect(status).toBe(200);
  return body;
}

/**
 * Ended jobs of `tenant`, one each `seconds`, the first at the start of 2026; each started two seconds after its
 * submit.
 */
async function addEnded(tenant: TenantId, count: number, seconds: number, status = 'completed'): Promise<void> {
  await api.database.db.execute(sql`
    insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, status, position, metadata, error, steps,
      input_tokens, output_tokens, created_at, started_at, finished_at)
    select gen_random_uuid(), ${tenant}::int, gen_random_uuid(), gen_random_uuid(), 'retry', 'main', ${status}, 1, '{}',
      case when ${status} = 'failed' then '{"code":"internal","message":"x"}'::jsonb end, 2, 10, 5,
      at - interval '3 seconds', at - interval '1 second', at
    from (select '2026-01-01T00:00:00Z'::timestamptz + n * ${seconds}::int * interval '1 second' as at
      from generate_series(0, ${count - 1}::int) n) t`);
}

test('each job counts in the bucket in which it ended', async () => {
  await addEnded(DEFAULT_TENANT, 48, 1_800);
  await addEnded(DEFAULT_TENANT, 1, 1, 'failed');
  await addEnded(2 as TenantId, 100, 60);
  const body = await history(`${DAY}&bucket=3600`);
  expect(body).toMatchObject({
    from: '2026-01-01T00:00:00.000Z',
    to: '2026-01-02T00:00:00.000Z',
    bucket_s: 3_600,
  });
  expect(body.data).toHaveLength(24);
  expect(body.data[0]).toEqual({
    at: '2026-01-01T00:00:00.000Z',
    finished: { completed: 2, incomplete: 0, failed: 1, cancelled: 0, interrupted: 0 },
    steps: 6,
    usage: {
      input_tokens: 30,
      output_tokens: 15,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      cache_hit_ratio: 0,
      cost: null,
    },
    start_ms: { p50: 2_000, p95: 2_000 },
    first_token_ms: null,
    model_ms: null,
  });
  for (const bucket of body.data.slice(1)) expect(bucket.finished).toMatchObject({ completed: 2, failed: 0 });
  expect(body.data.at(-1).at).toBe('2026-01-01T23:00:00.000Z');
});

test('buckets without ended jobs are empty', async () => {
  const { data } = await history('from=2020-01-01T00:00:00Z&to=2020-01-01T00:01:30Z&bucket=60');
  expect(data).toHaveLength(2);
  expect(data[1]).toMatchObject({ finished: { completed: 0 }, steps: 0, start_ms: null });
});

test('the default is the last day in about sixty buckets, with the times of its answers', async () => {
  const owner = await addProcess(api);
  const worker = await api.worker();
  await converse(api, worker.context_id, owner, 'hello', 'Hi.');
  await api.database.db.execute(sql`update messages set called_at = completed_at - interval '5 seconds',
    first_byte_at = completed_at - interval '4 seconds' where role = 'assistant'`);
  api.statements.length = 0;
  const body = await history('');
  expect(api.statements.filter((text) => tagOf(text) === 'stats.history')).toHaveLength(1);
  expect(body.bucket_s).toBe(1_440);
  expect(body.data).toHaveLength(60);
  const received = body.data.filter((bucket: Body) => bucket.finished.completed > 0);
  expect(received).toHaveLength(1);
  expect(received[0]).toMatchObject({
    model_ms: { p50: 5_000, p95: 5_000 },
    first_token_ms: { p50: 1_000, p95: 1_000 },
  });
});

test.each([
  ['from=now', 'from'],
  ['to=2026-13-01T00:00:00Z', 'to'],
  ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'from'],
  ['from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z', 'from'],
  ['from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z', 'from'],
  [`${DAY}&bucket=172`, 'bucket'],
  ['bucket=0', 'bucket'],
  ['bucket=1.5', 'bucket'],
  ['bucket=x', 'bucket'],
  ['bucket=-60', 'bucket'],
  ['buckets=60', 'buckets'],
])('%s is refused', async (query, param) => {
  const { status, body } = await api.get(`/api/stats/history?${query}`);
  expect(status).toBe(422);
  expect(body.error).toMatchObject({ code: 'invalid_request', param });
});

test('five hundred buckets are the most', async () => {
  expect((await history(`${DAY}&bucket=173`)).data).toHaveLength(500);
});

test('of many jobs only those in the range are read', async () => {
  await addEnded(DEFAULT_TENANT, 30_000, 600);
  const { db } = api.database;
  await db.execute(sql`analyze jobs`);
  const plan = await db.execute<{ 'QUERY PLAN': string }>(sql`explain select count(*) from jobs j
    where j.tenant_id = ${DEFAULT_TENANT} and j.finished_at >= '2026-02-01' and j.finished_at < '2026-02-02'`);
  expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('jobs_ended');
  const { data } = await history('from=2026-02-01T00:00:00Z&to=2026-02-02T00:00:00Z&bucket=86400');
  expect(data[0].finished.completed).toBe(144);
});

test('no query of it is JIT-compiled, which would take longer than the read', async () => {
  const plans: string[] = [];
  await api.database.transaction(async (tx) => {
    await tx.execute(sql`select set_config('jit_above_cost', '0', true)`);
    return readHistory(explainingJit(tx, plans), DEFAULT_TENANT, { from: 0, bucketMs: 1_000, count: 2 });
  });
  expect(plans.at(-1)).toContain('generate_series');
  expect(plans.at(-1)).not.toContain('JIT');
});
