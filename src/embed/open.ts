/** Opens an instance: connections first, then its parts when they are asked for. `stop` ends them in the other order. */
import { submissionsDue } from '../bus/bus.ts';
import { createClient, type Client } from '../client/index.ts';
import { isSecured } from '../config/secured.ts';
import { DatabaseRefused } from '../db/setup/database-refused.ts';
import { openDatabase } from '../db/connection/client.ts';
import { isUnavailable, refusalText } from '../db/connection/database-errors.ts';
import { migrate } from '../db/setup/migrate.ts';
import { schemaProblem, schemaState } from '../db/setup/schema-state.ts';
import { isLimitedLogin } from '../db/setup/refuse-for-api.ts';
import { UrlUnavailable } from '../db/setup/unfit-pooling.ts';
import { hasKeys } from '../db/write/api-keys.ts';
import { VERSION } from '../package-files.ts';
import { SILENT, hostTracing } from '../telemetry/telemetry.ts';
import { ConfigFileError } from '../tools/config/config-file.ts';
import { openPlatform, type Platform } from '../platform/platform.ts';
import { WORKER_LIMITS } from '../platform/services/pool-limits.ts';
import { checkPooling } from '../platform/schema/check-pooling.ts';
import { parseTenant } from './callers.ts';
import { createEnqueue } from './enqueue/enqueue.ts';
import { openEmbeddedApi, type EmbeddedApi } from './embedded-api.ts';
import { toFastifyPlugin } from './handlers/fastify.ts';
import { toFetchHandler } from './handlers/fetch.ts';
import { toNodeHandler } from './handlers/node.ts';
import { parsePath } from './handlers/path.ts';
import { STOPPED, toResponse } from './handlers/refusals.ts';
import type { Nightshift, NightshiftOptions, TenantOptions } from './options.ts';
import { parseOptions, type Settings } from './settings.ts';
import { NightshiftStartError, invalidOptions, stoppedError } from './start-error.ts';
import { openWorker } from './worker.ts';

const LIMITED =
  'Row security limits the login of databaseUrl: it is for API processes (NIGHTSHIFT_API_LOGIN). Use the login of worker processes, or the one that owns the tables.';

export async function openNightshift(options: NightshiftOptions): Promise<Nightshift> {
  const settings = parseOptions(options);
  const platform = await startable(settings);
  return instanceOf(platform, settings);
}

/** Throws `NightshiftStartError` where the cause is known. */
async function startable(settings: Settings): Promise<Platform> {
  const { config, databaseUrl, configFile, env, log } = settings;
  try {
    const pooled = { name: 'databaseUrl', url: databaseUrl };
    const direct =
      config.directDatabaseUrl === null ? pooled : { name: 'directDatabaseUrl', url: config.directDatabaseUrl };
    const used = { pooled, direct, schema: config.databaseSchema, limits: WORKER_LIMITS.limits };
    await checkPooling(used, (line) => log.warn(line));
    if (settings.migrate) await migrate(direct.url, config.databaseSchema);
    await requireTables(settings);
    const telemetry = { ...SILENT, tracing: await hostTracing(VERSION) };
    const services = { databaseUrl, redisUrl: config.redisUrl, poolLimits: WORKER_LIMITS, env, telemetry };
    return await openPlatform(config, services, configFile, log);
  } catch (error) {
    if (error instanceof DatabaseRefused)
      throw new NightshiftStartError('database_refused', error.message, { cause: error });
    if (isUnavailable(error))
      throw new NightshiftStartError('unavailable', awayText(settings, error), { cause: error });
    if (error instanceof ConfigFileError) throw configRefused(error);
    const refusal = refusalText(error);
    if (refusal !== null)
      throw new NightshiftStartError('database_refused', `PostgreSQL at ${placeOf(databaseUrl)} refused: ${refusal}.`, {
        cause: error,
      });
    throw error;
  }
}

function configRefused(error: ConfigFileError): NightshiftStartError {
  const { message } = error;
  return new NightshiftStartError('invalid_options', message, { faults: [message], cause: error });
}

async function requireTables({ databaseUrl, config }: Settings): Promise<void> {
  const database = openDatabase(databaseUrl, { max: 1, schema: config.databaseSchema });
  try {
    const state = await schemaState((statement) => database.db.execute(statement));
    const problem = schemaProblem(state);
    if (problem === null) {
      if (await isLimitedLogin(database.db)) throw new DatabaseRefused(LIMITED);
      return;
    }
    const advice = state.kind === 'behind' ? `Pass migrate: true, or run \`nightshift migrate\`.` : problem.advice;
    const code = state.kind === 'behind' ? 'not_migrated' : 'database_refused';
    throw new NightshiftStartError(code, `${problem.reason} ${advice}`);
  } finally {
    await database.close();
  }
}

/** `error`: PostgreSQL does not answer. */
function awayText({ databaseUrl, config: { directDatabaseUrl } }: Settings, error: unknown): string {
  const isDirect = error instanceof UrlUnavailable && error.variable === 'directDatabaseUrl';
  const [option, url] =
    isDirect && directDatabaseUrl !== null ? [error.variable, directDatabaseUrl] : ['databaseUrl', databaseUrl];
  return `PostgreSQL does not answer at ${placeOf(url)}. Check ${option}, or call createNightshift again later.`;
}

/** Without user and password. */
function placeOf(databaseUrl: string): string {
  const { hostname, port } = new URL(databaseUrl);
  return `${hostname}:${port || '5432'}`;
}

function instanceOf(platform: Platform, { log, workerFaults }: Pick<Settings, 'log' | 'workerFaults'>): Nightshift {
  const worker = openWorker(platform, workerFaults);
  const enqueue = createEnqueue(platform);
  const apis: Promise<EmbeddedApi>[] = [];
  let inProcess: Promise<EmbeddedApi> | null = null;
  let stopping: Promise<void> | null = null;
  let isStopped = false;

  function requireRunning(): void {
    if (stopping !== null) throw stoppedError();
  }

  function open(path: string): Promise<EmbeddedApi> {
    requireRunning();
    const api = openEmbeddedApi(platform, log, path);
    apis.push(api);
    return api;
  }

  /** Rejects if an API without `authenticate` would answer anyone, or only the holders of keys that can be guessed. */
  async function requireAccess(authenticate: unknown): Promise<void> {
    requireRunning();
    if (authenticate !== undefined && typeof authenticate !== 'function')
      throw invalidOptions('The options of the API', ['authenticate must be a function']);
    const { shortKeyFault } = await import('../api/server/server.ts');
    const short = shortKeyFault(platform.config);
    if (short !== null) throw invalidOptions('env', [short]);
    if (authenticate !== undefined || isSecured(platform.config)) return;
    if (await hasKeys(platform.commands.database.db)) return;
    throw new NightshiftStartError(
      'open_api',
      'Without authenticate and without API keys anyone could call this API. Pass authenticate, give NIGHTSHIFT_API_KEYS in env, or make a key with tenant(…).keys.create(…).',
    );
  }

  async function stop(): Promise<void> {
    try {
      await Promise.all(apis.map((api) => closeOpened(api)));
      await worker.stop();
      // Tools of the worker may call it until then.
      isStopped = true;
      if (inProcess !== null) await closeOpened(inProcess);
    } finally {
      isStopped = true;
      await platform.close();
    }
  }

  return {
    tenant(name, options: TenantOptions = {}) {
      const parsed = parseTenant(name, options);
      if (!parsed.ok) throw invalidOptions('The tenant', parsed.faults);
      const { caller } = parsed;
      return clientOf(async (request) => {
        if (isStopped) return toResponse(STOPPED);
        const api = await (inProcess ??= openEmbeddedApi(platform, log, ''));
        return api.carry(request, async () => caller);
      });
    },
    async enqueue(tx, job) {
      if (isStopped) throw stoppedError();
      return enqueue(tx, job);
    },
    async notify() {
      if (!isStopped) platform.commands.bus.publish(submissionsDue(), {});
    },
    async startWorker() {
      requireRunning();
      await worker.start();
    },
    async fetchHandler({ path, authenticate } = {}) {
      const parsed = parsePath(path);
      await requireAccess(authenticate);
      return toFetchHandler(await open(parsed), parsed, authenticate);
    },
    async nodeHandler({ path, authenticate } = {}) {
      const parsed = parsePath(path);
      await requireAccess(authenticate);
      return toNodeHandler(await open(parsed), parsed, authenticate);
    },
    async fastifyPlugin({ authenticate } = {}) {
      await requireAccess(authenticate);
      return toFastifyPlugin(open, authenticate);
    },
    stop: () => (stopping ??= stop()),
  };
}

/** An API that could not be opened is closed. */
async function closeOpened(opening: Promise<EmbeddedApi>): Promise<void> {
  const api = await opening.catch(() => null);
  await api?.close();
}

type Send = (request: Parameters<EmbeddedApi['carry']>[0]) => Promise<Response>;

function clientOf(send: Send): Client {
  return createClient({
    url: 'http://in-process',
    fetch: async (input, init = {}) => {
      const { method = 'GET', body = null, signal = null } = init;
      if (typeof input !== 'string') throw new TypeError('The client names a URL by its text.');
      const { pathname, search } = new URL(input);
      const headers = new Headers(init.headers);
      headers.set('host', 'in-process');
      if (body !== null && typeof body !== 'string') throw new TypeError('The client sends only text.');
      return send({ method, url: pathname + search, headers, body, signal });
    },
  });
}
