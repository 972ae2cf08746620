// The metrics that worker processes count, as an API process shows them: real jobs, through two processes.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ModelOutcome } from '../../../src/core/model/model.ts';
import { parseFigures } from '../../../src/core/figures.ts';
import { createWorkerMetrics } from '../../../src/workers/process/metrics/metrics.ts';
import { openApi, type Api } from '../../api/harness.ts';
import { exposition, type Series } from '../../api/system/exposition.ts';
import { fails, result, says, startFleet, type Fleet } from '../worker-fleet.ts';

let of: Fleet;
let api: Api;
beforeEach(async () => {
  of = await startFleet({
    processes: 2,
    concurrency: 3,
    model: ({ messages, failures }) => {
      const last = messages.at(-1)?.content ?? [];
      if (last.some((block) => block.type === 'tool_result')) return paid(says('done'));
      if (failures === 0) return fails({ class: 'server_error', message: 'oops', retryAfterMs: null });
      return says('', { name: 'look', input: {} }, { name: 'made_up', input: {} });
    },
    tools: { look: { execute: () => result('seen') } },
  });
  api = await openApi({}, of.url);
});
afterEach(async () => {
  await api.close();
  await of.close();
});

/** At a quarter of a dollar. */
function paid(outcome: ModelOutcome): ModelOutcome {
  if (outcome.kind !== 'done') return outcome;
  const { answer } = outcome;
  return { kind: 'done', answer: { ...answer, usage: { ...answer.usage, cost_nanos: 250_000_000 } } };
}

async function scrape(): Promise<Series[]> {
  const { headers, body } = await api.get('/metrics');
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  return exposition(body);
}

/** Of all processes together. */
function sum(series: readonly Series[], name: string, labels: Record<string, string> = {}): number {
  return series
    .filter((one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value))
    .reduce((total, { value }) => total + value, 0);
}

const processesOf = (series: readonly Series[]): string[] =>
  [...new Set(series.flatMap(({ labels }) => labels['process'] ?? []))].sort();

test('an alert sees the first call with an unknown outcome', async () => {
  const metrics = createWorkerMetrics({ running: 0, capacity: 1 }, []);
  const figure = parseFigures(await metrics.read()).find(({ name }) => name === 'nightshift_unknown_outcomes_total');
  expect(figure?.samples.map(({ labels, value }) => [labels['answer'], value])).toContainEqual(['unknown', 0]);
  expect(figure?.samples).toHaveLength(4);
});

test('counters rise with real jobs, each process shows its own, and a dead one shows none', async () => {
  const rows = await of.query('select id from processes order by id');
  const ids = rows.map((row) => String(row['id']).slice(-8)).sort();
  const contexts = await Promise.all(Array.from({ length: 12 }, () => of.createContext()));
  const jobs = await Promise.all(contexts.map(({ contextId }) => of.post(contextId, 'hi')));
  for (const { jobId } of jobs) expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  await of.until(async () => {
    const left = await scrape();
    return (
      sum(left, 'nightshift_jobs_finished_total') === 12 &&
      sum(left, 'nightshift_step_seconds_count', { kind: 'call_model' }) === 36
    );
  });
  const series = await scrape();
  expect(processesOf(series)).toEqual(ids);
  expect(sum(series, 'nightshift_worker_processes')).toBe(2);
  expect(sum(series, 'nightshift_slots')).toBe(6);

  expect(sum(series, 'nightshift_jobs_finished_total', { status: 'completed' })).toBe(12);
  expect(sum(series, 'nightshift_job_start_seconds_count')).toBe(12);
  expect(sum(series, 'nightshift_model_call_seconds_count', { provider: 'simulated', outcome: 'done' })).toBe(24);
  expect(sum(series, 'nightshift_model_call_seconds_count', { outcome: 'failed' })).toBe(12);
  expect(sum(series, 'nightshift_model_failures_total', { class: 'server_error' })).toBe(12);
  expect(sum(series, 'nightshift_retries_total', { code: 'provider_overloaded' })).toBe(12);
  expect(sum(series, 'nightshift_tokens_total', { provider: 'simulated', kind: 'input' })).toBe(240);
  expect(sum(series, 'nightshift_tokens_total', { provider: 'simulated', kind: 'output' })).toBe(120);
  // Each answer of `says` read one of its 13 prompt tokens from the cache, so each process has the same ratio.
  const ratios = series.filter(({ name }) => name === 'nightshift_cache_hit_ratio');
  expect(ratios.length).toBeGreaterThan(0);
  for (const { labels, value } of ratios) {
    expect(labels['provider']).toBe('simulated');
    expect(ids).toContain(labels['process']);
    expect(value).toBe(0.0769);
  }
  expect(sum(series, 'nightshift_cost_dollars_total', { provider: 'simulated' })).toBe(3);
  expect(sum(series, 'nightshift_unpriced_calls_total', { provider: 'simulated' })).toBe(12);
  expect(sum(series, 'nightshift_tool_calls_total', { tool: 'look', status: 'completed' })).toBe(12);
  expect(sum(series, 'nightshift_tool_calls_total', { tool: 'other' })).toBe(0);
  expect(sum(series, 'nightshift_step_seconds_count', { kind: 'call_model' })).toBe(36);
  expect(sum(series, 'nightshift_step_seconds_count', { kind: 'call_tools' })).toBe(12);
  expect(sum(series, 'nightshift_claims_total', { outcome: 'claimed' })).toBeGreaterThanOrEqual(12);
  expect(sum(series, 'nightshift_sweeps_total')).toBeGreaterThan(0);
  expect(series.some(({ name, labels }) => name === 'nodejs_eventloop_lag_p99_seconds' && labels['process'])).toBe(
    true,
  );
  for (const { labels } of series) {
    expect(Object.keys(labels)).not.toContain('tenant');
    expect(JSON.stringify(labels)).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
  }

  const [gone] = of.processes;
  await gone?.drain();
  const left = await scrape();
  expect(processesOf(left)).toHaveLength(1);
  expect(sum(left, 'nightshift_worker_processes')).toBe(1);
  expect(sum(left, 'nightshift_slots')).toBe(3);
});

test('the metrics stay small', async () => {
  const { contextId } = await of.createContext();
  await of.ended((await of.post(contextId, 'hi')).jobId);
  await of.until(async () => sum(await scrape(), 'nightshift_jobs_finished_total') === 1);
  const [size] = await of.query('select max(octet_length(metrics::text)) as text from processes');
  expect(Number(size?.['text'])).toBeLessThan(100_000);
});
