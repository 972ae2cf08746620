// The state of a worker process without heartbeats and sweeps: for tests of its parts.
import { localBus } from '../../src/bus/local.ts';
import { SubscriberRegistry } from '../../src/workers/process/subscriber-registry.ts';
import { DatabaseClock } from '../../src/workers/process/clock.ts';
import { createClaimer } from '../../src/workers/run/claimer.ts';
import { createAppender } from '../../src/workers/run/appender.ts';
import { Throttles } from '../../src/workers/process/throttles.ts';
import { createWorkerMetrics } from '../../src/workers/process/metrics/metrics.ts';
import type { WorkerState } from '../../src/workers/process/ports.ts';
import { Registry } from '../../src/workers/process/registry.ts';
import { QUIET_FINGERPRINTS } from '../workers/manual-process.ts';
import { workerPorts } from '../workers/worker-ports.ts';
import { TIMES, type Given } from './database-fixture.ts';

export function workerState(the: Given): WorkerState {
  const registry = new Registry(1);
  const clock = new DatabaseClock();
  const metrics = createWorkerMetrics(registry, []);
  const ports = workerPorts({
    database: the.database,
    bus: localBus(),
    times: { ...TIMES, heartbeatIntervalMs: 1_000, sweepMs: 1_000, stopGraceMs: 1_000, drainMs: 1_000 },
  });
  return together({
    ...ports,
    registry,
    subscribers: new SubscriberRegistry(),
    clock,
    metrics,
    followUps: { look: () => undefined },
    fingerprints: QUIET_FINGERPRINTS,
    identity: () => null,
  });
}

/** Claims, appends and throttles over the given parts. */
export function together(parts: Omit<WorkerState, 'appender' | 'claimer' | 'throttles'>): WorkerState {
  return {
    ...parts,
    appender: createAppender(parts.database.db),
    claimer: createClaimer(parts),
    throttles: new Throttles(parts, parts.clock, parts.metrics),
  };
}
