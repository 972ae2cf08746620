// A whole installation in this process: API processes and worker processes on real Postgres, with the simulated model,
// on a chosen bus and queue.
import { inject } from 'vitest';
import { pino } from 'pino';
import type { Server } from '../../src/api/server/server.ts';
import type { Bus } from '../../src/bus/bus.ts';
import { localBus } from '../../src/bus/local.ts';
import { redisBus } from '../../src/bus/redis.ts';
import { ids } from '../../src/platform/ids.ts';
import type { CommandPorts } from '../../src/commands/ports.ts';
import type { Environment } from '../../src/config/environment.ts';
import { parseModelName, type Model } from '../../src/core/model/model.ts';
import { openDatabase, type Database } from '../../src/db/connection/client.ts';
import { createSimulated } from '../../src/llm/simulated/model.ts';
import { redisQueue } from '../../src/queue/redis.ts';
import { startWorkerProcess, type WorkerProcess } from '../../src/workers/process/process.ts';
import { openClient, type Client } from '../e2e/rig/client.ts';
import { createTestDatabase } from '../services/database.ts';
import { testPrefix } from '../services/prefix.ts';
import { settings } from '../core/builders.ts';
import { TIMES, deaf, workerPorts } from '../workers/worker-ports.ts';
import { openSse, type Ask, type SseClient } from './sse-client.ts';
import { configOf, listen } from '../api/http/listening.ts';

export type InstallationOptions = {
  apis?: number;
  workers?: number;
  /** Bus and queue on Redis, each process with connections of its own; else one bus in this process. */
  redisUrl?: string | null;
  cluster?: boolean;
  /** A wrapper around the bus of a process. */
  bus?: (bus: Bus) => Bus;
  env?: Environment;
  /** In place of the simulated one. */
  model?: Model;
};

export type Installation = {
  database: Database;
  servers: Server[];
  workers: WorkerProcess[];
  /** By API process. */
  clients: Client[];
  client: Client;
  /** Statements of API processes since this was last emptied. */
  statements: string[];
  listen(contextId: string, ask?: Ask, api?: number): Promise<SseClient>;
  startWorker(): Promise<WorkerProcess>;
  query(text: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
};

export async function openInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const made = await createTestDatabase();
  const redisUrl = options.redisUrl ?? null;
  const prefix = testPrefix().replaceAll(/[{}]/g, '');
  const log = pino({ level: process.env['LOG_LEVEL'] ?? 'silent' });
  const quiet = (): void => undefined;
  const closes: (() => Promise<void>)[] = [];
  const statements: string[] = [];
  const shared = localBus();
  const openBus = (): Bus => {
    const bus = redisUrl === null ? shared : redisBus(redisUrl, prefix, quiet, options.cluster ?? false);
    if (redisUrl !== null) closes.push(() => bus.close());
    return options.bus?.(bus) ?? bus;
  };
  const openPool = (name: string, hook: (text: string) => void = quiet): Database => {
    const database = openDatabase(made.url, { max: 5, name, hook });
    closes.push(() => database.close());
    return database;
  };
  const queue = redisUrl === null ? deaf : redisQueue(redisUrl, prefix, quiet, options.cluster ?? false);
  const wakeQueue = queue.openWakeQueue();
  closes.push(() => wakeQueue.close());
  const commands = (database: Database, bus: Bus): CommandPorts => ({
    database,
    wakeQueue,
    bus,
    ids,
    times: TIMES,
    stopGraceMs: TIMES.stopGraceMs,
    boundResult: (content) => content,
  });
  const servers: Server[] = [];
  for (let count = options.apis ?? 1; count > 0; count -= 1) {
    const database = openPool('test-api', (text) => void statements.push(text));
    const ports = { commands: commands(database, openBus()) };
    servers.push(await listen(ports, { config: configOf(options.env), logger: log }));
  }
  const model = options.model ?? createSimulated(ids);
  const workers: WorkerProcess[] = [];
  const startWorker = async (): Promise<WorkerProcess> => {
    const worker = await startWorkerProcess(
      workerPorts({
        database: openPool('test-worker'),
        bus: openBus(),
        openHeartbeatConnection: () => openDatabase(made.url, { max: 1, name: 'test-heartbeat' }),
        queue,
        wakeQueue,
        times: TIMES,
        log,
        random: Math.random,
        abilities: {
          model: () => model,
          tools: { execute: async () => ({ kind: 'result', content: 'looked', is_error: false }) },
          published: { tools: [], roles: [], models: ['simulated'], mcpServers: [] },
          resolve: ({ config }) => ({
            kind: 'served',
            settings: settings({
              model: parseModelName(config.model ?? '') ?? { provider: 'simulated', model: 'test' },
              streaming: config.streaming ?? true,
              maxSteps: 50,
            }),
          }),
        },
      }),
      { concurrency: 50, reserved: 0 },
    );
    workers.push(worker);
    return worker;
  };
  for (let count = options.workers ?? 1; count > 0; count -= 1) await startWorker();
  const database = openPool('test-client');
  const clients = servers.map(({ url }) => openClient(url));
  const [client] = clients;
  if (client === undefined) throw new Error('the installation has no API process');
  return {
    database,
    servers,
    workers,
    clients,
    client,
    statements,
    listen: (contextId, ask, api = 0) => openSse(servers[api]?.url ?? '', contextId, ask),
    startWorker,
    query: async (text) => [...(await database.db.execute(text))],
    async close() {
      await Promise.all(servers.map((server) => server.close()));
      await Promise.all(workers.map((worker) => worker.drain()));
      for (const close of closes.reverse()) await close();
      await made.drop();
    },
  };
}

/** The run's Redis; null: it has none. */
export function runRedis(): string | null {
  return inject('redisUrl');
}
