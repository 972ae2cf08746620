// The state of a worker process that neither beats nor sweeps: for tests of its parts.
import { pino } from 'pino';
import { localBus } from '../../src/bus/local.ts';
import { ids } from '../../src/cli/ids.ts';
import type { Bell } from '../../src/queue/doorbell.ts';
import { Audience } from '../../src/workers/audience.ts';
import { DatabaseClock } from '../../src/workers/clock.ts';
import { Gates } from '../../src/workers/gates.ts';
import { createWorkerMetrics } from '../../src/workers/metrics.ts';
import type { WorkerPorts, WorkerState } from '../../src/workers/ports.ts';
import { Registry } from '../../src/workers/registry.ts';
import { settings } from '../core/builders.ts';
import { TIMES } from './given.ts';
import type { Given } from './given.ts';

const bell: Bell = { ring: () => undefined, isReachable: async () => true, close: async () => undefined };

/** `over`: what the process is given in place of the usual. */
export function workerState(the: Given, over: Partial<WorkerPorts> = {}): WorkerState {
  const registry = new Registry(1);
  const clock = new DatabaseClock();
  const metrics = createWorkerMetrics(registry, []);
  const ports: WorkerPorts = {
    database: the.database,
    openBeatConnection: () => the.database,
    queue: {
      openBell: () => bell,
      listen: async () => ({ pause: async () => undefined, close: async () => undefined }),
    },
    bell,
    bus: localBus(),
    ids,
    abilities: {
      model: () => null,
      keyId: (provider) => provider,
      tools: { execute: async () => ({ kind: 'aborted' }) },
      resolve: () => ({ kind: 'served', settings: settings() }),
      published: { tools: [], roles: [], models: [] },
    },
    times: { ...TIMES, beatMs: 1_000, sweepMs: 1_000, stopGraceMs: 1_000, drainMs: 1_000 },
    log: pino({ level: 'silent' }),
    random: () => 0.5,
    ...over,
  };
  return {
    ...ports,
    registry,
    audience: new Audience(),
    clock,
    metrics,
    gates: new Gates(ports, clock, metrics),
    identity: () => null,
  };
}
