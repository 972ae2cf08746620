// The dependencies of a worker process with every field filled in; a test names only those it is about. Nothing here
// needs a service.
import { NO_TELEMETRY } from '../../src/core/tracing/telemetry.ts';
import { pino } from 'pino';
import { PEER_LIMITS } from '../../src/core/workers/peer-limits.ts';
import type { ToolRunner } from '../../src/core/tools/tool.ts';
import { ids } from '../../src/platform/ids.ts';
import type { Queue } from '../../src/queue/wake-queue.ts';
import { checkOutput } from '../../src/schema/output-schema.ts';
import { NO_SERVERS } from '../../src/tools/registry/servers.ts';
import { TEAM_DEFAULTS } from '../../src/workers/run/team-abilities.ts';
import type { Abilities, WorkerPorts, WorkerTimes } from '../../src/workers/process/ports.ts';
import { settings } from '../core/builders.ts';
import { NO_WEBHOOKS } from '../services/webhooks.ts';
import { readParsed } from './scheduling/read-parsed.ts';

/** A live process is not declared dead, and answers in time, however slow the machine is. */
export const TIMES: WorkerTimes = {
  heartbeatIntervalMs: 100,
  heartbeatTimeoutMs: 500,
  leaseMs: 60_000,
  sweepMs: 200,
  stopGraceMs: 60_000,
  drainMs: 5_000,
};

/** A queue whose wake-ups never arrive, as without Redis. */
export const deaf: Queue = {
  openWakeQueue: () => ({
    notify: () => undefined,
    isReachable: async () => false,
    close: async () => undefined,
  }),
  listen: async () => ({ pause: async () => undefined, resume: async () => undefined, close: async () => undefined }),
};

type Over = Pick<WorkerPorts, 'database' | 'bus' | 'times'> &
  Partial<Omit<WorkerPorts, 'abilities'>> & {
    abilities?: Partial<Omit<Abilities, 'tools'>> & { tools?: Partial<ToolRunner> };
  };

/** There is no model, every tool call ends as aborted, and heartbeats use the same connections as everything else. */
export function workerPorts({ abilities, ...over }: Over): WorkerPorts {
  return {
    openHeartbeatConnection: () => over.database,
    toolDatabase: null,
    queue: deaf,
    wakeQueue: deaf.openWakeQueue(),
    ids,
    abilities: {
      model: () => null,
      keyId: (provider) => provider,
      checkOutput,
      resolve: () => ({ kind: 'served', settings: settings() }),
      published: { tools: [], roles: [], models: [], mcpServers: [] },
      team: TEAM_DEFAULTS,
      ...abilities,
      tools: {
        judge: async (_, ruled) => ruled ?? 'never',
        mayAsk: () => false,
        execute: async () => ({ kind: 'aborted' }),
        reconcile: async () => ({ kind: 'unknown' }),
        outcomeWaitMs: null,
        ...abilities?.tools,
      },
    },
    expiry: { timeouts: {}, archivedDays: null, workspaces: null },
    servers: NO_SERVERS,
    peers: PEER_LIMITS,
    scheduledRole: async () => ({ kind: 'role', role: null }),
    readSubmission: readParsed,
    outboxes: {
      all: [],
      open: () => over.database,
    },
    webhooks: NO_WEBHOOKS,
    telemetry: NO_TELEMETRY,
    boundResult: (content) => content,
    log: pino({ level: process.env['LOG_LEVEL'] ?? 'silent' }),
    random: () => 0.5,
    ...over,
  };
}
