/**
 * Puts a process together: which database, queue and bus it runs on, what it can serve, and the parts it runs. What is
 * opened here is closed here, in the reverse order.
 */
import type { Logger } from 'pino';
import { localBus } from '../bus/local.ts';
import { isCluster } from '../bus/redis-cluster.ts';
import { redisBus } from '../bus/redis.ts';
import type { Bus } from '../bus/bus.ts';
import type { CommandPorts } from '../commands/ports.ts';
import type { Config, ProviderAccess } from '../config.ts';
import { LIMITS } from '../core/limits.ts';
import type { Role } from '../core/settings.ts';
import { openDatabase } from '../db/client.ts';
import type { Database } from '../db/client.ts';
import { createModels } from '../llm/models.ts';
import { postgresQueue } from '../queue/postgres.ts';
import { redisQueue } from '../queue/redis.ts';
import type { Queue } from '../queue/doorbell.ts';
import { published } from '../tools/catalog.ts';
import type { Catalog } from '../tools/catalog.ts';
import { createToolRunner } from '../tools/execute.ts';
import type { OperatorFile } from '../tools/operator-file.ts';
import { createRegistry } from '../tools/registry.ts';
import { resolve } from '../tools/settings.ts';
import type { Abilities, WorkerPorts } from '../workers/ports.ts';
import { startWorkerProcess } from '../workers/process.ts';
import type { WorkerProcess } from '../workers/process.ts';
import { ids } from './ids.ts';

/** Where the truth is and where bells ring. `redisUrl` null: one process that is everything, without Redis. */
export type Services = { databaseUrl: string; redisUrl: string | null };

export type Platform = {
  /** The configuration, with the limits that the operator's file sets. */
  config: Config;
  commands: CommandPorts;
  abilities: Abilities;
  /** Of the operator's file. */
  roles: ReadonlyMap<string, Role>;
  /** Names of the providers that can be called from here. */
  providers: string[];
  startWorker(): Promise<WorkerProcess>;
  close(): Promise<void>;
};

export async function openPlatform(
  config: Config,
  services: Services,
  operator: OperatorFile,
  log: Logger,
): Promise<Platform> {
  const { databaseUrl, redisUrl } = services;
  const database = openDatabase(databaseUrl, {
    max: config.pool,
    name: 'nightshift',
    silentMs: config.leaseMs,
  });
  const opened: (() => Promise<void>)[] = [() => database.close()];
  const onError = quietly(log);
  const cluster = redisUrl !== null && (await isCluster(redisUrl));
  const bus: Bus = redisUrl === null ? localBus() : redisBus(redisUrl, config.prefix, onError, cluster);
  const queue = await openQueue(config, services, cluster, onError, opened);
  const bell = queue.openBell();
  opened.push(
    () => bus.close(),
    () => bell.close(),
  );
  const commands: CommandPorts = {
    database,
    bell,
    bus,
    ids,
    times: { missedMs: config.missedMs, leaseMs: config.leaseMs },
    stopGraceMs: config.stopGraceMs,
  };
  const { abilities, providers } = toAbilities(config, operator, log);
  return {
    config: { ...config, queueLimit: operator.limits.queuedInputs ?? config.queueLimit },
    commands,
    abilities,
    roles: operator.roles,
    providers,
    startWorker: async () => startWorkerProcess(workerPorts(), config.concurrency),
    async close() {
      for (const end of opened.reverse()) await end().catch(() => undefined);
    },
  };

  function workerPorts(): WorkerPorts {
    const { beatMs, missedMs, leaseMs, sweepMs, stopGraceMs, drainMs } = config;
    return {
      database,
      openBeatConnection: (): Database => openDatabase(databaseUrl, { max: 1, name: 'nightshift-beat' }),
      queue,
      bell,
      bus,
      ids,
      abilities,
      times: { beatMs, missedMs, leaseMs, sweepMs, stopGraceMs, drainMs },
      log,
      random: () => Math.random(),
    };
  }
}

async function openQueue(
  config: Config,
  { databaseUrl, redisUrl }: Services,
  cluster: boolean,
  onError: (error: Error) => void,
  opened: (() => Promise<void>)[],
): Promise<Queue> {
  if (redisUrl !== null) return redisQueue(redisUrl, config.prefix, onError, cluster);
  const queue = await postgresQueue(databaseUrl, onError);
  opened.push(() => queue.close());
  return queue;
}

function toAbilities(config: Config, operator: OperatorFile, log: Logger) {
  const anthropic = access(config.anthropic);
  const openai = access(config.openai);
  const models = createModels({
    ...(anthropic.apiKey === undefined ? {} : { anthropic: { ...anthropic, apiKey: anthropic.apiKey } }),
    openai,
    idleTimeoutMs: config.idleStreamMs,
  });
  const limits = { ...LIMITS, ...operator.limits };
  const registry = createRegistry(operator.tools);
  const catalog: Catalog = {
    roles: operator.roles,
    registry,
    providers: new Set(models.configured),
    defaults: { model: config.defaultModel, max_steps: limits.maxSteps },
  };
  const abilities: Abilities = {
    model: (provider) => models.for(provider),
    keyId: (provider) => models.keyId(provider),
    tools: createToolRunner(registry, { limits, log }),
    resolve: ({ config: written, role, definition }) => resolve(written, definition ?? role, catalog),
    published: published(catalog),
  };
  return { abilities, providers: models.configured };
}

function access({ apiKey, baseUrl }: ProviderAccess): { apiKey?: string; baseURL?: string } {
  return { ...(apiKey === null ? {} : { apiKey }), ...(baseUrl === null ? {} : { baseURL: baseUrl }) };
}

/** Redis' trouble, at most one line in ten seconds: it comes again with every attempt. */
function quietly(log: Logger): (error: Error) => void {
  let said = -Infinity;
  return (error) => {
    if (performance.now() - said < 10_000) return;
    said = performance.now();
    log.warn({ err: error }, 'the queue or the bus is in trouble; sweeps go on finding the work');
  };
}
