// The state of a worker process without heartbeats and sweeps: for tests of its parts.
import { pino } from 'pino';
import { PEER_LIMITS } from '../../src/core/workers/peer-limits.ts';
import { localBus } from '../../src/bus/local.ts';
import { ids } from '../../src/platform/ids.ts';
import type { WakeQueue } from '../../src/queue/wake-queue.ts';
import { NO_SERVERS } from '../../src/tools/registry/servers.ts';
import { TEAM_DEFAULTS } from '../../src/workers/run/team-abilities.ts';
import { SubscriberRegistry } from '../../src/workers/process/subscriber-registry.ts';
import { DatabaseClock } from '../../src/workers/process/clock.ts';
import { createClaimer } from '../../src/workers/run/claimer.ts';
import { createAppender } from '../../src/workers/run/appender.ts';
import { Throttles } from '../../src/workers/process/throttles.ts';
import { createWorkerMetrics } from '../../src/workers/process/metrics/metrics.ts';
import type { WorkerPorts, WorkerState } from '../../src/workers/process/ports.ts';
import { Registry } from '../../src/workers/process/registry.ts';
import { settings } from '../core/builders.ts';
import { QUIET_FINGERPRINTS } from '../workers/manual-process.ts';
import { TIMES } from './database-fixture.ts';
import type { Given } from './database-fixture.ts';

const wakeQueue: WakeQueue = {
  notify: () => undefined,
  isReachable: async () => true,
  close: async () => undefined,
};

export function workerState(the: Given): WorkerState {
  const registry = new Registry(1);
  const clock = new DatabaseClock();
  const metrics = createWorkerMetrics(registry, []);
  const ports: WorkerPorts = {
    database: the.database,
    openHeartbeatConnection: () => the.database,
    queue: {
      openWakeQueue: () => wakeQueue,
      listen: async () => ({ pause: async () => undefined, close: async () => undefined }),
    },
    wakeQueue,
    bus: localBus(),
    ids,
    abilities: {
      model: () => null,
      keyId: (provider) => provider,
      tools: {
        judge: async (_, ruled) => ruled ?? 'never',
        execute: async () => ({ kind: 'aborted' }),
        reconcile: async () => ({ kind: 'unknown' }),
        outcomeWaitMs: null,
      },
      resolve: () => ({ kind: 'served', settings: settings() }),
      published: { tools: [], roles: [], models: [], mcpServers: [] },
      team: TEAM_DEFAULTS,
    },
    times: { ...TIMES, heartbeatIntervalMs: 1_000, sweepMs: 1_000, stopGraceMs: 1_000, drainMs: 1_000 },
    expiry: { timeouts: {}, archivedDays: null, workspaces: null },
    servers: NO_SERVERS,
    peers: PEER_LIMITS,
    boundResult: (content) => content,
    log: pino({ level: 'silent' }),
    random: () => 0.5,
  };
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
