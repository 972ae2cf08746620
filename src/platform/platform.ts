/**
 * Assembles a process: its database, queue and bus, what it can serve, and the parts it runs. `close` closes everything
 * in the reverse order of opening.
 */
import type { Logger } from 'pino';
import type { About } from '../api/server/about.ts';
import type { CheckInput, KnownCatalog } from '../api/server/catalog.ts';
import type { WebhookPorts } from '../api/server/ports.ts';
import type { Server } from '../api/server/server.ts';
import type { Telemetry } from '../core/tracing/telemetry.ts';
import type { OpenTelemetry } from '../telemetry/options.ts';
import { createPeers } from '../commands/workers/peers.ts';
import type { CommandPorts } from '../commands/ports.ts';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import { NO_LIMITS, type RequestRates } from '../core/access/quotas.ts';
import { LIMITS } from '../core/limits.ts';
import { namedOutboxes } from '../core/submissions/outbox.ts';
import { once } from '../core/once.ts';
import { PEER_LIMITS, type PeerLimits } from '../core/workers/peer-limits.ts';
import type { Explain } from '../core/workers/explained.ts';
import { idleTimeouts, type Role } from '../core/workers/settings.ts';
import { openDatabase, type Database } from '../db/connection/client.ts';
import { SESSION_PREFIX } from '../db/processes/frozen-sessions.ts';
import { abilitiesOf } from './abilities.ts';
import { aboutOf } from './about.ts';
import type { ConfigFile } from '../tools/config/config-file.ts';
import { openServers } from '../tools/mcp/connection/servers.ts';
import { boundedContent } from '../tools/run/result.ts';
import type { Abilities, WorkerPorts } from '../workers/process/ports.ts';
import { VERSION, consoleFolder, referenceFolder } from '../package-files.ts';
import { WEBHOOK_DEFAULTS } from '../webhooks/limits.ts';
import { createReceivers } from '../webhooks/receivers.ts';
import { openSecretBox } from '../webhooks/secret-box.ts';
import type { Lifetime, WorkerProcess } from '../workers/process/process.ts';
import { ids } from './ids.ts';
import { openOutbox } from './services/outbox-database.ts';
import type { PoolLimits } from './services/pool-limits.ts';
import { closingAfter, toolDatabaseOf } from './services/tool-database.ts';
import { directUrl, openTransport, type Services, type Transport } from './services/transport.ts';
import type { ProcessId } from '../core/ids.ts';

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
  explain: Explain;
  about: Omit<About, 'mode'>;
  webhooks: WebhookPorts;
  requestRates: RequestRates;
  telemetry: Telemetry;
  /** Names of the providers that this process can call. */
  providers: string[];
  /** The signal ends a start that waits for the database. */
  startWorker(lifetime?: Lifetime): Promise<WorkerProcess>;
  close(): Promise<void>;
};

/** `env`: for what a part reads of the environment by itself: the PATH of commands, whether there is a proxy. */
type PlatformServices = Services & { poolLimits: PoolLimits; env: Environment; telemetry: OpenTelemetry };

/** The database, and what wakes and notifies other processes. */
type Connected = {
  database: Database;
  /** `application_name` of all connections. */
  sessionName: string;
  transport: Transport;
};

/** Rejects with ConfigFileError, or because a service does not answer. Then nothing is left open. */
export async function openPlatform(
  config: Config,
  services: PlatformServices,
  configFile: ConfigFile,
  log: Logger,
): Promise<Platform> {
  const connected = await connect(config, services, log);
  try {
    return assemble(connected, config, configFile, { services, log });
  } catch (error) {
    await closeConnected(connected);
    throw error;
  }
}

/** Throws ConfigFileError. */
function assemble(
  connected: Connected,
  config: Config,
  configFile: ConfigFile,
  { services, log }: { services: PlatformServices; log: Logger },
): Platform {
  const { database, transport } = connected;
  const commands = commandPorts(config, configFile, connected);
  const peers = createPeers(commands, peerLimits(config, configFile));
  const servers = openServers(configFile.mcpServers, { version: VERSION, log });
  const served = abilitiesOf(config, configFile, { database, peers, servers, log, env: services.env });
  const { abilities, providers, checkInput, explain, builtIn } = served;
  const { limits, prices, roles, tools: own } = configFile;
  const known = {
    fileRoles: roles,
    checkInput,
    parameters: limits.parameters ?? [],
    defaultModel: config.defaultModel,
  };
  const checks = workerChecks(commands, known);
  const webhooks = {
    receivers: createReceivers(limits.webhooks ?? WEBHOOK_DEFAULTS),
    secretBox: openSecretBox(config.secretKeys),
  };
  const heartbeatDatabase = { max: 1, schema: config.databaseSchema, name: connected.sessionName };
  const workerPorts = (): Omit<WorkerPorts, 'toolDatabase'> => ({
    ...commands,
    ...workerSettings(config, configFile),
    sessionName: connected.sessionName,
    openHeartbeatConnection: () => openDatabase(directUrl(services, config), heartbeatDatabase),
    queue: transport.queue,
    ids,
    abilities,
    ...checks,
    servers,
    outboxes: {
      all: namedOutboxes(configFile.outboxes, config.databaseSchema),
      open: (outbox) => openOutbox(outbox, config, `outbox-of-${connected.sessionName}`),
    },
    webhooks,
    telemetry: services.telemetry,
    log,
    random: () => Math.random(),
  });
  return {
    config: {
      ...config,
      queueLimit: limits.queuedInputs ?? config.queueLimit,
      trees: abilities.team,
      tenantLimits: abilities.team.tenantLimits,
      oidcSettings: configFile.oidc,
    },
    requestRates: transport.requestRates,
    telemetry: services.telemetry,
    commands,
    abilities,
    roles,
    parameters: limits.parameters ?? [],
    checkInput,
    explain,
    about: aboutOf({ config, limits, prices, providers, builtIn, own, servers }),
    providers,
    webhooks: { whyNot: (url) => webhooks.receivers.whyNot(url), secretBox: webhooks.secretBox },
    startWorker: async (lifetime = {}) => {
      const { startWorkerProcess } = await import('../workers/process/process.ts');
      const { concurrency, reservedSlots: reserved } = config;
      const toolDatabase = await toolDatabaseOf(config, own, database, { log, signal: lifetime.signal });
      try {
        const ports = { ...workerPorts(), toolDatabase };
        return closingAfter(await startWorkerProcess(ports, { concurrency, reserved }, lifetime), toolDatabase);
      } catch (error) {
        await toolDatabase?.close();
        throw error;
      }
    },
    async close() {
      await services.telemetry.close();
      await closeConnected(connected);
    },
  };
}

async function closeConnected({ database, transport }: Connected): Promise<void> {
  await transport.close();
  await database.close().catch(() => undefined);
}

export async function startApi(platform: Platform, mode: About['mode'], logger: Logger): Promise<Server> {
  const { startServer } = await import('../api/server/server.ts');
  return startServer({ ...apiPorts(platform, mode), consoleFolder: consoleFolder(), logger });
}

/** What an API process takes of the platform. */
export function apiPorts(platform: Platform, mode: About['mode']) {
  const { commands, config, roles, parameters, checkInput, explain, webhooks, requestRates, telemetry, about } =
    platform;
  const folders = { referenceFolder: referenceFolder() };
  return {
    ...commands,
    ...folders,
    config,
    roles,
    parameters,
    checkInput,
    explain,
    webhooks,
    requestRates,
    telemetry,
    about: { ...about, mode },
  };
}

async function connect(config: Config, services: PlatformServices, log: Logger): Promise<Connected> {
  const sessionName = `${SESSION_PREFIX}${ids.next<ProcessId>()}`;
  const database = openDatabase(services.databaseUrl, {
    max: config.databasePoolSize,
    schema: config.databaseSchema,
    name: sessionName,
    silentMs: config.leaseMs,
    ...services.poolLimits,
  });
  try {
    return { database, sessionName, transport: await openTransport(services, config, log) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

function commandPorts(
  { heartbeatTimeoutMs, leaseMs, stopGraceMs }: Config,
  { limits }: ConfigFile,
  { database, transport: { bus, wakeQueue } }: Connected,
): CommandPorts {
  return {
    database,
    wakeQueue,
    bus,
    ids,
    times: { heartbeatTimeoutMs, leaseMs },
    stopGraceMs,
    boundResult: (content) => boundedContent(content, limits.toolResult ?? LIMITS.toolResult),
  };
}

function workerSettings(config: Config, configFile: ConfigFile): Pick<WorkerPorts, 'times' | 'peers' | 'expiry'> {
  const { heartbeatIntervalMs, heartbeatTimeoutMs, leaseMs, sweepMs, stopGraceMs, drainMs } = config;
  return {
    times: { heartbeatIntervalMs, heartbeatTimeoutMs, leaseMs, sweepMs, stopGraceMs, drainMs },
    peers: peerLimits(config, configFile),
    expiry: {
      timeouts: idleTimeouts(configFile.roles),
      archivedDays: configFile.limits.archivedDays ?? null,
      workspaces: config.workspaces,
    },
  };
}

function peerLimits({ queueLimit }: Config, { limits }: ConfigFile): PeerLimits {
  return {
    queuedInputs: limits.queuedInputs ?? queueLimit,
    hops: limits.hops ?? PEER_LIMITS.hops,
    messagesPerMinute: limits.messagesPerMinute ?? PEER_LIMITS.messagesPerMinute,
    tenantLimits: limits.tenantLimits ?? NO_LIMITS,
  };
}

/** The checks of workers that occurrences of schedules and submissions create, loaded for the first one. */
function workerChecks(
  { database, times }: Pick<CommandPorts, 'database' | 'times'>,
  known: KnownCatalog,
): Pick<WorkerPorts, 'scheduledRole' | 'readSubmission'> {
  const load = once(async () => {
    const [{ openCatalog }, { roleAtOccurrence }, { readSubmission }] = await Promise.all([
      import('../api/server/catalog.ts'),
      import('../api/request/scheduled-worker.ts'),
      import('../api/request/submitted-job.ts'),
    ]);
    return { catalog: openCatalog(database, times, known), roleAtOccurrence, readSubmission };
  });
  return {
    async scheduledRole(tenant, worker) {
      const { catalog, roleAtOccurrence } = await load();
      return roleAtOccurrence({ catalog, database }, tenant, worker);
    },
    async readSubmission(tenant, body) {
      const { catalog, readSubmission } = await load();
      return readSubmission({ catalog, database }, tenant, body);
    },
  };
}
