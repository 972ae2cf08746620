// The state of a worker process without heartbeats and sweeps: for tests of its parts.
import { localBus } from '../../src/bus/local.ts';
import { ReportWriter } from '../../src/workers/reports/report-writer.ts';
import { SubscriberRegistry } from '../../src/workers/process/subscriber-registry.ts';
import { DatabaseClock } from '../../src/workers/process/clock.ts';
import { createClaimer } from '../../src/workers/run/claimer.ts';
import { createAppender } from '../../src/workers/run/appender.ts';
import { Tenants } from '../../src/workers/process/tenants.ts';
import { Throttles } from '../../src/workers/process/throttles.ts';
import { createWorkerMetrics } from '../../src/workers/process/metrics/metrics.ts';
import type { WorkerState } from '../../src/workers/process/ports.ts';
import { Registry } from '../../src/workers/process/registry.ts';
import { sweepOnce } from '../../src/workers/process/sweep.ts';
import { Dispatcher } from '../../src/workers/scheduling/dispatcher.ts';
import { TenantShares } from '../../src/workers/scheduling/tenant-shares.ts';
import { Slots } from '../../src/workers/scheduling/slots.ts';
import { QUIET_FINGERPRINTS } from '../workers/manual-process.ts';
import { workerPorts } from '../workers/worker-ports.ts';
import { TIMES, type Given } from './database-fixture.ts';

export function workerState(the: Given): WorkerState {
  const registry = new Registry();
  const slots = slotsOf(1);
  const clock = new DatabaseClock();
  const metrics = createWorkerMetrics(slots, []);
  const ports = workerPorts({
    database: the.database,
    bus: localBus(),
    times: { ...TIMES, heartbeatIntervalMs: 1_000, sweepMs: 1_000, stopGraceMs: 1_000, drainMs: 1_000 },
  });
  return together({
    ...ports,
    registry,
    slots,
    subscribers: new SubscriberRegistry(),
    clock,
    metrics,
    followUps: { look: () => undefined },
    webhookSender: { look: () => undefined },
    fingerprints: QUIET_FINGERPRINTS,
    reports: new ReportWriter(the.database.db, ports.log),
    identity: () => null,
  });
}

export function slotsOf(capacity: number, reserved = 0): Slots {
  return new Slots(new TenantShares(), capacity, reserved);
}

/** One sweep of a process. */
export async function sweep(state: WorkerState): Promise<void> {
  await sweepOnce(state, new Dispatcher(state));
}

/** Claims, appends and throttles over the given parts. */
export function together(parts: Omit<WorkerState, 'appender' | 'claimer' | 'throttles' | 'tenants'>): WorkerState {
  return {
    ...parts,
    appender: createAppender(parts.database.db),
    claimer: createClaimer(parts),
    throttles: new Throttles(parts, parts.clock, parts.metrics),
    tenants: new Tenants(parts.slots.shares, parts.registry),
  };
}
