/**
 * Assembles a process: its database, queue and bus, what it can serve, and the parts it runs. `close` closes everything
 * in the reverse order of opening.
 */
import type { Logger } from 'pino';
import type { About } from '../api/server/about.ts';
import type { CheckInput } from '../api/server/catalog.ts';
import { localBus } from '../bus/local.ts';
import { isCluster } from '../bus/redis-cluster.ts';
import { redisBus } from '../bus/redis.ts';
import type { Bus } from '../bus/bus.ts';
import { createPeers } from '../commands/workers/peers.ts';
import type { CommandPorts } from '../commands/ports.ts';
import type { Config, ProviderAccess } from '../config/config.ts';
import { LIMITS } from '../core/limits.ts';
import { PEER_LIMITS } from '../core/workers/peer-limits.ts';
import type { PeerLimits } from '../core/workers/peer-limits.ts';
import { ASKING_DEFAULTS } from '../core/run/policy.ts';
import { idleTimeouts } from '../core/workers/settings.ts';
import type { Role } from '../core/workers/settings.ts';
import { openDatabase } from '../db/connection/client.ts';
import type { Database, DatabaseOptions } from '../db/connection/client.ts';
import { FROZEN_LIMITS, SESSION_PREFIX, terminateFrozenSessions } from '../db/processes/frozen-sessions.ts';
import { createModels } from '../llm/models.ts';
import { postgresQueue } from '../queue/postgres.ts';
import { redisQueue } from '../queue/redis.ts';
import type { Queue } from '../queue/wake-queue.ts';
import type { Peers } from '../tools/built-in/peers.ts';
import { aboutOf } from './about.ts';
import { builtInParts } from './built-in-parts.ts';
import { builtInTools } from '../tools/built-in/tools.ts';
import { published } from '../tools/registry/catalog.ts';
import type { Catalog } from '../tools/registry/catalog.ts';
import { createToolRunner } from '../tools/run/execute.ts';
import type { ConfigFile } from '../tools/config/config-file.ts';
import { openServers } from '../tools/mcp/connection/servers.ts';
import { createRegistry, withServers } from '../tools/registry/registry.ts';
import { boundedContent } from '../tools/run/result.ts';
import type { ToolServers } from '../tools/registry/servers.ts';
import { resolve } from '../tools/registry/settings.ts';
import type { Abilities, WorkerPorts } from '../workers/process/ports.ts';
import { startWorkerProcess } from '../workers/process/process.ts';
import { VERSION } from '../package-files.ts';
import type { WorkerProcess } from '../workers/process/process.ts';
import { usesEnvProxy } from './env-proxy.ts';
import { ids } from './ids.ts';
import type { ProcessId } from '../core/ids.ts';

/** The services of a process. `redisUrl` null: a single process runs everything, without Redis. */
export type Services = { databaseUrl: string; redisUrl: string | null };

export type Platform = {
  /** The configuration, with the limits that the config file sets. */
  config: Config;
  commands: CommandPorts;
  abilities: Abilities;
  /** The roles of the config file. */
  roles: ReadonlyMap<string, Role>;
  /** Provider parameters that the operator allows in addition to the defaults. */
  parameters: readonly string[];
  checkInput: CheckInput;
  about: Omit<About, 'mode'>;
  /** Names of the providers that this process can call. */
  providers: string[];
  startWorker(): Promise<WorkerProcess>;
  close(): Promise<void>;
};

type PoolLimits = Pick<DatabaseOptions, 'limits' | 'lockTimeoutMs' | 'onLocked'>;

/**
 * For processes that serve requests and run no jobs. A request waits for a row lock without keeping a connection, so
 * that other requests do not run out of connections. It waits for at most 80 % of the request timeout.
 */
export function requestLimits({ requestMs }: Pick<Config, 'requestMs'>): PoolLimits {
  return {
    limits: { ...FROZEN_LIMITS, lock: 300 },
    lockTimeoutMs: requestMs * 0.8,
    onLocked: terminateFrozenSessions,
  };
}

export async function openPlatform(
  config: Config,
  services: Services,
  configFile: ConfigFile,
  log: Logger,
  limits: PoolLimits = { limits: FROZEN_LIMITS },
): Promise<Platform> {
  const { databaseUrl, redisUrl } = services;
  const sessionName = `${SESSION_PREFIX}${ids.next<ProcessId>()}`;
  const database = openDatabase(databaseUrl, {
    max: config.databasePoolSize,
    schema: config.databaseSchema,
    name: sessionName,
    silentMs: config.leaseMs,
    ...limits,
  });
  const opened: (() => Promise<void>)[] = [() => database.close()];
  const onError = quietly(log);
  const cluster = redisUrl !== null && (await isCluster(redisUrl));
  const bus: Bus = redisUrl === null ? localBus() : redisBus(redisUrl, config.prefix, onError, cluster);
  const queue = await openQueue(config, services, cluster, onError, opened);
  const wakeQueue = queue.openWakeQueue();
  opened.push(
    () => bus.close(),
    () => wakeQueue.close(),
  );
  const boundResult: CommandPorts['boundResult'] = (content) =>
    boundedContent(content, configFile.limits.toolResult ?? LIMITS.toolResult);
  const commands: CommandPorts = {
    database,
    wakeQueue,
    bus,
    ids,
    times: { heartbeatTimeoutMs: config.heartbeatTimeoutMs, leaseMs: config.leaseMs },
    stopGraceMs: config.stopGraceMs,
    boundResult,
  };
  const peers = createPeers(commands, peerLimits(config, configFile));
  const servers = openServers(configFile.mcpServers, { version: VERSION, log });
  const { abilities, providers, checkInput, builtIn } = toAbilities(
    config,
    configFile,
    { database, peers, servers },
    log,
  );
  return {
    config: {
      ...config,
      queueLimit: configFile.limits.queuedInputs ?? config.queueLimit,
      trees: abilities.team,
    },
    commands,
    abilities,
    roles: configFile.roles,
    parameters: configFile.limits.parameters ?? [],
    checkInput,
    about: aboutOf({
      config,
      limits: configFile.limits,
      prices: configFile.prices,
      providers,
      builtIn,
      own: configFile.tools,
      servers,
    }),
    providers,
    startWorker: async () => startWorkerProcess(workerPorts(), config.concurrency),
    async close() {
      for (const end of opened.reverse()) await end().catch(() => undefined);
    },
  };

  function workerPorts(): WorkerPorts {
    const { heartbeatIntervalMs, heartbeatTimeoutMs, leaseMs, sweepMs, stopGraceMs, drainMs } = config;
    return {
      database,
      openHeartbeatConnection: (): Database =>
        openDatabase(databaseUrl, { max: 1, schema: config.databaseSchema, name: sessionName }),
      sessionName,
      queue,
      wakeQueue,
      bus,
      ids,
      abilities,
      servers,
      times: { heartbeatIntervalMs, heartbeatTimeoutMs, leaseMs, sweepMs, stopGraceMs, drainMs },
      peers: peerLimits(config, configFile),
      boundResult,
      expiry: {
        timeouts: idleTimeouts(configFile.roles),
        archivedDays: configFile.limits.archivedDays ?? null,
        workspaces: config.workspaces,
      },
      log,
      random: () => Math.random(),
    };
  }
}

function peerLimits({ queueLimit }: Config, { limits }: ConfigFile): PeerLimits {
  return {
    queuedInputs: limits.queuedInputs ?? queueLimit,
    hops: limits.hops ?? PEER_LIMITS.hops,
    messagesPerMinute: limits.messagesPerMinute ?? PEER_LIMITS.messagesPerMinute,
  };
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

function toAbilities(
  config: Config,
  configFile: ConfigFile,
  { database, peers, servers }: { database: Database; peers: Peers; servers: ToolServers },
  log: Logger,
) {
  const anthropic = access(config.anthropic);
  const openai = access(config.openai);
  const models = createModels({
    ...(anthropic.apiKey === undefined ? {} : { anthropic: { ...anthropic, apiKey: anthropic.apiKey } }),
    openai,
    idleTimeoutMs: config.idleStreamMs,
    ids,
    prices: configFile.prices,
    useEnvProxy: usesEnvProxy(process.env, process.execArgv),
  });
  const limits = { ...LIMITS, asking: ASKING_DEFAULTS, ...configFile.limits };
  const parts = builtInParts(config, configFile.limits, limits.toolResult, database);
  const builtIn = builtInTools({ ...parts, peers });
  const registry = createRegistry([...builtIn, ...configFile.tools]);
  const all = withServers(registry, servers);
  const catalog: Catalog = {
    roles: configFile.roles,
    registry,
    servers,
    providers: new Set(models.configured),
    asking: limits.asking,
    parameters: configFile.limits.parameters ?? [],
    defaults: { model: config.defaultModel, max_steps: limits.maxSteps },
  };
  const abilities: Abilities = {
    model: (provider) => models.for(provider),
    keyId: (provider) => models.keyId(provider),
    tools: createToolRunner(all, {
      limits,
      log,
      onProgress: ({ id }, text) => log.debug({ tool_call_id: id, text }, 'progress of a tool'),
    }),
    resolve: ({ config: written, role, definition }, jobId) =>
      resolve(written, definition ?? role, catalog, jobId),
    published: published(catalog),
    team: {
      roles: configFile.roles,
      limits: { depth: limits.workerDepth, children: limits.workerChildren, workers: limits.workersInTree },
      tenantWorkers: configFile.limits.tenantWorkers ?? null,
      toolResult: limits.toolResult,
    },
  };
  const checkInput: CheckInput = async (tool, input) => {
    const checked = await all.get(tool)?.validate(structuredClone(input));
    if (checked === undefined) return null;
    return checked.ok ? [] : checked.problems;
  };
  return { abilities, providers: models.configured, checkInput, builtIn };
}

function access({ apiKey, baseUrl }: ProviderAccess): { apiKey?: string; baseURL?: string } {
  return { ...(apiKey === null ? {} : { apiKey }), ...(baseUrl === null ? {} : { baseURL: baseUrl }) };
}

/** Logs Redis errors at most every ten seconds, because each reconnection attempt repeats them. */
function quietly(log: Logger): (error: Error) => void {
  let said = -Infinity;
  return (error) => {
    if (performance.now() - said < 10_000) return;
    said = performance.now();
    log.warn({ err: error }, 'Redis queue or bus error; sweeps keep finding jobs');
  };
}
