// A worker process assembled as the command line does it, but on an observed database, with tools that record their
// effects outside, and the simulated model.
import { NO_TELEMETRY } from '../../../src/core/tracing/telemetry.ts';
import type { Logger } from 'pino';
import { PEER_LIMITS } from '../../../src/core/workers/peer-limits.ts';
import { localBus } from '../../../src/bus/local.ts';
import { redisBus } from '../../../src/bus/redis.ts';
import { DEFAULT_TENANT_NAME } from '../../../src/core/ids.ts';
import type { NamedOutbox } from '../../../src/core/submissions/outbox.ts';
import { ids } from '../../../src/platform/ids.ts';
import { ASKING_DEFAULTS } from '../../../src/core/run/policy.ts';
import { LIMITS } from '../../../src/core/limits.ts';
import { DATABASE_SCHEMA } from '../../../src/core/database-schema.ts';
import { openDatabase, type Database, type DatabaseOptions } from '../../../src/db/connection/client.ts';
import { openToolDatabase, type ToolDatabase } from '../../../src/db/tool-transactions/tool-database.ts';
import { createSimulated } from '../../../src/llm/simulated/model.ts';
import { postgresQueue } from '../../../src/queue/postgres.ts';
import { redisQueue } from '../../../src/queue/redis.ts';
import { builtInTools } from '../../../src/tools/built-in/tools.ts';
import { checkOutput } from '../../../src/schema/output-schema.ts';
import { createToolRunner } from '../../../src/tools/run/execute.ts';
import { parseConfigFile } from '../../../src/tools/config/parse-config.ts';
import { PLACEHOLDERS } from '../../../src/tools/packages/secrets.ts';
import { createRegistry } from '../../../src/tools/registry/registry.ts';
import { resolve } from '../../../src/tools/registry/settings.ts';
import { NO_SERVERS } from '../../../src/tools/registry/servers.ts';
import { TEAM_DEFAULTS } from '../../../src/workers/run/team-abilities.ts';
import type { Abilities, WorkerTimes } from '../../../src/workers/process/ports.ts';
import { startWorkerProcess } from '../../../src/workers/process/process.ts';
import { CRASH_TIMES } from './crash-times.ts';
import { watched, type Watcher } from './effects.ts';
import { outsideTools } from '../outside/outside-tools.ts';
import { enterTool } from './enter-tool.ts';
import { webhooksWith } from '../../services/webhooks.ts';
import { WEBHOOK_SECRET } from '../rig/hooks.ts';
import { OUTBOX_SCHEMA } from '../../services/outbox.ts';
import { openOutbox } from '../../../src/platform/services/outbox-database.ts';
import { watchedInstallation, watchedOutbox } from './relay-statements.ts';
import { readParsed } from '../../workers/scheduling/read-parsed.ts';

export type CrashProcess = {
  /**
   * Its environment: the services, the file in which its tools record their effects, whether it has transactional tools,
   * and perhaps the database of a service with an outbox. Without transactional tools it opens no connection for them, like
   * a process of the command line.
   */
  env: Readonly<Record<string, string | undefined>>;
  watcher: Watcher;
  log: Logger;
  /** Opens its connections for all but heartbeats and transactional tools; without it they are its own. */
  open?: (options: DatabaseOptions) => Database;
  /** Those of the crash tests, unless given. */
  times?: WorkerTimes;
  concurrency?: number;
};

/** For the environment of a process with transactional tools. */
export const TRANSACTIONAL = { TRANSACTIONS: 'on' } as const;

/** Resolves once it claims; returns a function that drains it and closes everything it opened. */
export async function startCrashProcess({
  env,
  watcher,
  log,
  open,
  times = CRASH_TIMES,
  concurrency = 10,
}: CrashProcess): Promise<() => Promise<void>> {
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, NIGHTSHIFT_PREFIX: prefix, OUTSIDE: outside } = env;
  if (databaseUrl === undefined || prefix === undefined || outside === undefined) {
    throw new Error('DATABASE_URL, NIGHTSHIFT_PREFIX and OUTSIDE must be set');
  }
  const quiet = (): void => undefined;
  const own = redisUrl === undefined ? await postgresQueue(databaseUrl, quiet) : null;
  const queue = redisUrl === undefined ? own : redisQueue(redisUrl, prefix, quiet);
  if (queue === null) throw new Error('no queue');
  const wakeQueue = queue.openWakeQueue();
  const bus = redisUrl === undefined ? localBus() : redisBus(redisUrl, prefix, quiet);
  const database =
    open?.({ max: 3, name: 'crash-successor' }) ?? openDatabase(databaseUrl, { max: 3, name: 'crash-worker' });
  const isTransactional = env['TRANSACTIONS'] === TRANSACTIONAL.TRANSACTIONS;
  const toolDatabase = isTransactional
    ? await openToolDatabase(database, { url: databaseUrl, max: 2, schema: DATABASE_SCHEMA })
    : null;
  const worker = await startWorkerProcess(
    {
      database: watchedInstallation(watched(database, watcher), watcher),
      toolDatabase: toolDatabase && watchedTransactions(toolDatabase, watcher),
      openHeartbeatConnection: () => openDatabase(databaseUrl, { max: 1, name: 'crash-beat' }),
      queue,
      wakeQueue,
      bus,
      ids,
      abilities: abilities(isTransactional, outside, watcher, log),
      servers: NO_SERVERS,
      times,
      expiry: { timeouts: {}, archivedDays: null, workspaces: null },
      peers: PEER_LIMITS,
      scheduledRole: async () => ({ kind: 'role', role: null }),
      readSubmission: readParsed,
      outboxes: {
        all: outboxesIn(env),
        open: (outbox) => watchedOutbox(openOutbox(outbox, times, 'crash-relay'), watcher),
      },
      webhooks: webhooksWith([WEBHOOK_SECRET]),
      telemetry: NO_TELEMETRY,
      boundResult: (content) => content,
      log,
      random: Math.random,
    },
    { concurrency, reserved: 1 },
  );
  return async () => {
    await worker.drain();
    await wakeQueue.close();
    await own?.close();
    await bus.close();
    await toolDatabase?.close();
    await database.close();
  };
}

function outboxesIn({ OUTBOX_URL: url }: CrashProcess['env']): NamedOutbox[] {
  if (url === undefined) return [];
  return [{ name: 'shop', url, schema: OUTBOX_SCHEMA, tenants: [DEFAULT_TENANT_NAME] }];
}

/** Dies also right before the settlement and the commit are sent. */
function watchedTransactions(toolDatabase: ToolDatabase, watcher: Watcher): ToolDatabase {
  return {
    ...toolDatabase,
    async attempt(call, work, limits) {
      const watched: typeof work = async (tx) => {
        const result = await work(tx);
        watcher.before('transaction');
        return result;
      };
      const attempted = await toolDatabase.attempt(call, watched, limits);
      if (attempted.kind === 'committed') watcher.after('transaction');
      return attempted;
    },
  };
}

function abilities(isTransactional: boolean, outside: string, watcher: Watcher, log: Logger): Abilities {
  const notify = (what: string): void => watcher.after(what);
  const tools = [...outsideTools(outside, notify), ...(isTransactional ? [enterTool(notify)] : [])];
  const parsed = parseConfigFile({ tools }, PLACEHOLDERS);
  if (!parsed.ok) throw new Error(parsed.faults.join('\n'));
  const registry = createRegistry([...builtInTools(), ...parsed.settings.tools]);
  const simulated = createSimulated(ids);
  return {
    model: () => simulated,
    keyId: (provider) => provider,
    tools: createToolRunner(registry, { limits: LIMITS, log }),
    checkOutput,
    resolve: ({ config, role }) =>
      resolve(config, role, {
        roles: new Map(),
        registry,
        servers: NO_SERVERS,
        providers: new Set(['simulated']),
        asking: ASKING_DEFAULTS,
        parameters: [],
        defaults: { model: 'simulated/default', max_steps: LIMITS.maxSteps },
      }),
    published: { tools: [...registry.names], roles: [], models: ['simulated'], mcpServers: [] },
    team: TEAM_DEFAULTS,
  };
}
