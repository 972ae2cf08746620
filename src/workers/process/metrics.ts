/**
 * Prometheus metrics of a worker process. The process opens no port: it writes them to its row, and API processes serve
 * them. Label values come from small sets that are known beforehand; a step makes only a few observations.
 */
import { Counter, Gauge, Histogram, Registry as Metrics, collectDefaultMetrics } from 'prom-client';
import type { JobCode } from '../../core/errors.ts';
import type { ThrottleReason } from '../../core/run/throttle.ts';
import type { FinishedStatus } from '../../core/run/job.ts';
import type { Json } from '../../core/json.ts';
import type { ModelOutcome, ProviderName } from '../../core/model/model.ts';
import type { ServerWatch } from '../../tools/registry/servers.ts';
import { createServerMetrics } from './server-metrics.ts';
import type { Reconciled } from '../../core/tools/tool.ts';
import { NO_USAGE, addUsage, cacheHitRatio } from '../../core/money/usage.ts';
import type { Usage } from '../../core/money/usage.ts';

export type ToolStatus = 'completed' | 'failed' | 'aborted';

export type WorkerMetrics = {
  /** Time from submitting a job to its first step. All times are in milliseconds. */
  started(ms: number): void;
  step(kind: string, ms: number): void;
  called(provider: ProviderName, outcome: ModelOutcome, ms: number): void;
  timeToFirstToken(provider: ProviderName, ms: number): void;
  retry(code: JobCode): void;
  tool(name: string, status: ToolStatus, ms: number): void;
  /** A tool call with an unknown outcome was found, and its tool was asked about it. */
  outcomeUnknown(answer: Reconciled['kind']): void;
  finished(status: FinishedStatus): void;
  claim(outcome: 'claimed' | 'noop'): void;
  leaseLost(): void;
  sweep(found: number, revoked: number): void;
  heartbeatMissed(): void;
  throttleSet(provider: ProviderName, reason: ThrottleReason): void;
  throttled(provider: ProviderName): void;
  servers: ServerWatch;
  /** All metrics in prom-client's JSON format. */
  read(): Promise<Json>;
};

/** Running contexts and slots of the process. */
type Slots = { readonly running: number; readonly capacity: number };

const FAST = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
const SLOW = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600];

/** Tools with a label of their own; the others share the label `other`. */
const TOOLS_NAMED = 50;

/** Adds metrics of the operating system process: memory, CPU, event loop delay. */
export function processFigures(): Metrics {
  const registry = new Metrics();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** `tools`: tool names that this process knows; other names are counted as `other`. */
export function createWorkerMetrics(
  slots: Slots,
  tools: readonly string[],
  registry: Metrics = new Metrics(),
): WorkerMetrics {
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `nightshift_${name}`, help, labelNames, registers });
  const histogram = (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
    new Histogram({ name: `nightshift_${name}`, help, buckets, labelNames, registers });
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `nightshift_${name}`,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  const named = new Set(tools.slice(0, TOOLS_NAMED));

  gauge('slots', 'Contexts that the process can run at once.', () => slots.capacity);
  gauge('slots_taken', 'Contexts that the process runs now.', () => slots.running);
  const starts = histogram('job_start_seconds', 'Time from submitting a job to its first step.', FAST);
  const steps = histogram('step_seconds', 'Duration of steps, including waits.', SLOW, ['kind']);
  const calls = histogram('model_call_seconds', 'Duration of model calls.', SLOW, ['provider', 'outcome']);
  const words = histogram('time_to_first_token_seconds', 'Time to the first token of an answer.', SLOW, [
    'provider',
  ]);
  const moment = (name: string, help: string) =>
    new Gauge({ name: `nightshift_${name}_timestamp_seconds`, help, labelNames: ['provider'], registers });
  const answered = moment('model_answered', 'Time of the last answer from a provider.');
  const failed = moment('model_failed', 'Time of the last failed model call.');
  const tokens = counter('tokens_total', 'Tokens by kind.', ['provider', 'kind']);
  const prompts = new Map<ProviderName, Usage>();
  const hits = new Gauge({
    name: 'nightshift_cache_hit_ratio',
    help: 'Share of prompt tokens read from the provider cache, since the process started.',
    labelNames: ['provider'],
    registers,
  });
  const dollars = counter('cost_dollars_total', 'Cost of answers from models with a price.', ['provider']);
  const unpriced = counter('unpriced_calls_total', 'Answers from models without a price.', ['provider']);
  const failures = counter('model_failures_total', 'Failed model calls.', ['provider', 'class']);
  const retries = counter('retries_total', 'Retries of model calls.', ['code']);
  const toolCalls = counter('tool_calls_total', 'Tool calls.', ['tool', 'status']);
  const toolTimes = histogram('tool_call_seconds', 'Duration of tool calls.', SLOW, ['status']);
  const unknown = counter(
    'unknown_outcomes_total',
    'Tool calls with an unknown outcome, by the answer of their tool.',
    ['answer'],
  );
  const jobs = counter('jobs_finished_total', 'Finished jobs.', ['status']);
  const claims = counter('claims_total', 'Attempts to claim a context.', ['outcome']);
  const losses = counter('lease_losses_total', 'Runs that lost their lease.');
  const sweeps = counter('sweeps_total', 'Sweeps for due contexts.');
  const found = counter('rescued_total', 'Contexts that sweeps found due.');
  const revoked = counter('leases_revoked_total', 'Leases of dead processes that sweeps revoked.');
  const heartbeats = counter('heartbeats_missed_total', 'Heartbeats that did not reach PostgreSQL.');
  const closings = counter('provider_throttles_total', 'Throttles that this process set on a provider key.', [
    'provider',
    'reason',
  ]);
  const held = counter(
    'throttled_calls_total',
    'Model calls put off because the provider key is throttled.',
    ['provider'],
  );

  return {
    started: (ms) => starts.observe(seconds(ms)),
    step: (kind, ms) => steps.observe({ kind }, seconds(ms)),
    called(provider, outcome, ms) {
      calls.observe({ provider, outcome: outcome.kind }, seconds(ms));
      if (outcome.kind === 'failed') {
        failures.inc({ provider, class: outcome.failure.class });
        failed.setToCurrentTime({ provider });
      }
      if (outcome.kind === 'done') {
        const { cost_nanos } = outcome.answer.usage;
        count(tokens, provider, outcome.answer.usage);
        const all = addUsage(prompts.get(provider) ?? NO_USAGE, outcome.answer.usage);
        prompts.set(provider, all);
        hits.set({ provider }, cacheHitRatio(all) ?? 0);
        if (cost_nanos === null) unpriced.inc({ provider });
        else dollars.inc({ provider }, cost_nanos / 1e9);
        answered.setToCurrentTime({ provider });
      }
    },
    timeToFirstToken: (provider, ms) => words.observe({ provider }, seconds(ms)),
    retry: (code) => retries.inc({ code }),
    tool(name, status, ms) {
      toolCalls.inc({ tool: named.has(name) ? name : 'other', status });
      toolTimes.observe({ status }, seconds(ms));
    },
    outcomeUnknown: (answer) => unknown.inc({ answer }),
    finished: (status) => jobs.inc({ status }),
    claim: (outcome) => claims.inc({ outcome }),
    leaseLost: () => losses.inc(),
    sweep(due, leases) {
      sweeps.inc();
      found.inc(due);
      revoked.inc(leases);
    },
    heartbeatMissed: () => heartbeats.inc(),
    throttleSet: (provider, reason) => closings.inc({ provider, reason }),
    throttled: (provider) => held.inc({ provider }),
    servers: createServerMetrics(registry),
    read: async () => toJson(await registry.getMetricsAsJSON()),
  };
}

function seconds(ms: number): number {
  return Math.max(0, ms) / 1_000;
}

function count(tokens: Counter, provider: ProviderName, usage: Usage): void {
  tokens.inc({ provider, kind: 'input' }, usage.input_tokens);
  tokens.inc({ provider, kind: 'output' }, usage.output_tokens);
  tokens.inc({ provider, kind: 'cache_read' }, usage.cache_read_tokens);
  tokens.inc({ provider, kind: 'cache_write' }, usage.cache_write_tokens);
}

/** Plain JSON for the database: `undefined` is dropped, and NaN and Infinity become null. */
function toJson(figures: object): Json {
  return JSON.parse(JSON.stringify(figures));
}
