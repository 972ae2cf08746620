/**
 * Prometheus metrics of a worker process. The process opens no port: it writes them to its row, and API processes serve
 * them. Label values come from small sets that are known beforehand; a step makes only a few observations.
 */
import { Registry as Metrics, collectDefaultMetrics } from 'prom-client';
import type { FinishedStatus } from '../../../core/run/job.ts';
import type { Json } from '../../../core/json.ts';
import type { SubmissionCode } from '../../../core/submissions/submission.ts';
import type { ServerWatch } from '../../../tools/registry/servers.ts';
import { FAST, SLOW, createInstruments, seconds, type Instruments } from './instruments.ts';
import { createModelMetrics, type ModelMetrics } from './model-metrics.ts';
import { createOutboxMetrics, type OutboxMetrics } from './outbox-metrics.ts';
import { createServerMetrics } from './server-metrics.ts';
import { UseCounter } from './use-counter.ts';
import type { Reconciled } from '../../../core/tools/tool.ts';

export type ToolStatus = 'completed' | 'failed' | 'aborted';

/** All times are in milliseconds. */
type RunMetrics = {
  /** Time from submitting a job to its first step. */
  started(ms: number): void;
  step(kind: string, ms: number): void;
  finished(status: FinishedStatus): void;
  /** A submission became no job. */
  submissionRefused(code: SubmissionCode): void;
};

type ToolMetrics = {
  tool(name: string, status: ToolStatus, ms: number): void;
  /** A tool call with an unknown outcome was found, and its tool was asked about it. */
  outcomeUnknown(answer: Reconciled['kind']): void;
};

type LeaseMetrics = {
  claim(outcome: 'claimed' | 'noop'): void;
  leaseLost(): void;
  sweep(found: number, revoked: number): void;
  heartbeatMissed(): void;
};

export type WorkerMetrics = RunMetrics &
  ModelMetrics &
  ToolMetrics &
  LeaseMetrics & {
    servers: ServerWatch;
    outbox: OutboxMetrics;
    /** What tenants use of each tool. It is stored apart from the metrics. */
    use: UseCounter;
    /** All metrics in prom-client's JSON format. Begins the next figures of the event loop. */
    read(): Promise<Json>;
    /** Those that Nightshift defines. */
    readOwn(): Promise<Json>;
  };

type Slots = { readonly running: number; readonly capacity: number };

const NO_ANSWERS: Readonly<Record<Reconciled['kind'], 0>> = { happened: 0, did_not_happen: 0, unknown: 0, aborted: 0 };

/** Tools with a label of their own; the others share the label `other`. */
const TOOLS_NAMED = 50;

/** Adds metrics of the operating system process: memory, CPU, event loop delay. */
export function processFigures(): Metrics {
  const registry = new Metrics();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/**
 * `tools`: tool names that this process knows; other names are counted as `other`. `ofProcess`: see `processFigures`;
 * default: none.
 */
export function createWorkerMetrics(
  slots: Slots,
  tools: readonly string[],
  { registry = new Metrics(), ofProcess = new Metrics() }: { registry?: Metrics; ofProcess?: Metrics } = {},
): WorkerMetrics {
  const instruments = createInstruments(registry);
  const { reading } = instruments;
  reading('slots', 'Contexts that the process can run at once, without reserved slots.', () => slots.capacity);
  reading('slots_taken', 'Contexts that the process runs now.', () => slots.running);
  return {
    ...createRunMetrics(instruments),
    ...createModelMetrics(instruments),
    ...createToolMetrics(instruments, tools),
    ...createLeaseMetrics(instruments),
    servers: createServerMetrics(instruments),
    outbox: createOutboxMetrics(instruments),
    use: new UseCounter(),
    read: async () => toJson([registry, ofProcess]),
    readOwn: async () => toJson([registry]),
  };
}

function createRunMetrics({ counter, histogram }: Instruments): RunMetrics {
  const starts = histogram('job_start_seconds', 'Time from submitting a job to its first step.', FAST);
  const steps = histogram('step_seconds', 'Duration of steps, including waits.', SLOW, ['kind']);
  const jobs = counter('jobs_finished_total', 'Finished jobs.', ['status']);
  const refused = counter('submissions_refused_total', 'Submissions that became no job.', ['code']);
  return {
    started: (ms) => starts.observe(seconds(ms)),
    step: (kind, ms) => steps.observe({ kind }, seconds(ms)),
    finished: (status) => jobs.inc({ status }),
    submissionRefused: (code) => refused.inc({ code }),
  };
}

function createToolMetrics({ counter, histogram }: Instruments, tools: readonly string[]): ToolMetrics {
  const named = new Set(tools.slice(0, TOOLS_NAMED));
  const calls = counter('tool_calls_total', 'Tool calls.', ['tool', 'status']);
  const times = histogram('tool_call_seconds', 'Duration of tool calls.', SLOW, ['status']);
  const unknown = counter(
    'unknown_outcomes_total',
    'Tool calls with an unknown outcome, by the answer of their tool.',
    ['answer'],
  );
  // An alert sees the first of them only if the metric was there before.
  for (const answer of Object.keys(NO_ANSWERS)) unknown.inc({ answer }, 0);
  return {
    tool(name, status, ms) {
      calls.inc({ tool: named.has(name) ? name : 'other', status });
      times.observe({ status }, seconds(ms));
    },
    outcomeUnknown: (answer) => unknown.inc({ answer }),
  };
}

function createLeaseMetrics({ counter }: Instruments): LeaseMetrics {
  const claims = counter('claims_total', 'Attempts to claim a context.', ['outcome']);
  const losses = counter('lease_losses_total', 'Runs that lost their lease.');
  const sweeps = counter('sweeps_total', 'Sweeps for due contexts.');
  const found = counter('rescued_total', 'Contexts that sweeps started, because no wake-up had.');
  const revoked = counter('leases_revoked_total', 'Leases of dead processes that sweeps revoked.');
  const heartbeats = counter('heartbeats_missed_total', 'Heartbeats that did not reach PostgreSQL.');
  return {
    claim: (outcome) => claims.inc({ outcome }),
    leaseLost: () => losses.inc(),
    sweep(due, leases) {
      sweeps.inc();
      found.inc(due);
      revoked.inc(leases);
    },
    heartbeatMissed: () => heartbeats.inc(),
  };
}

/** Plain JSON for the database: `undefined` is dropped, and NaN and Infinity become null. */
async function toJson(registries: readonly Metrics[]): Promise<Json> {
  const figures = await Promise.all(registries.map((registry) => registry.getMetricsAsJSON()));
  return JSON.parse(JSON.stringify(figures.flat()));
}
