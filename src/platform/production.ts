/**
 * The production processes. Each loads and runs one part of the platform, on the services that the environment names.
 */
import { flushCompileCache } from 'node:module';
import type { Logger } from 'pino';
import { ConfigError, parseEnvironment, type Config } from '../config/config.ts';
import { loadConfigFile } from '../tools/config/config-file.ts';
import { fromEnvironment } from '../tools/packages/secrets.ts';
import { createLog } from './log.ts';
import { isLimited } from '../db/connection/client.ts';
import { refuseForApi } from '../db/setup/refuse-for-api.ts';
import { beginWorker } from './begin-worker.ts';
import { endAll } from './end-all.ts';
import { apiUrls, checkPooling, workerUrls } from './schema/check-pooling.ts';
import { checkUntilUp } from './schema/check-until-up.ts';
import { untilMigrated } from './schema/until-migrated.ts';
import { openPlatform, startApi, type Platform } from './platform.ts';
import { WORKER_LIMITS, requestLimits, type PoolLimits } from './services/pool-limits.ts';
import { VERSION } from '../package-files.ts';
import { openTelemetry } from '../telemetry/telemetry.ts';
import { untilSignal } from './signals.ts';

export async function runApi(): Promise<number> {
  const { refuseBusyPort } = await import('../api/server/busy-port.ts');
  await refuseBusyPort(parseEnvironment(process.env));
  return run(forRequests, async (platform, log, { config, using, ends, signal }) => {
    const { db } = platform.commands.database;
    const urls = apiUrls(config, using);
    const check = async (): Promise<void> => {
      await checkPooling(urls, (line) => log.warn(line));
      await refuseForApi(db, isLimited(db));
    };
    const { passed } = await checkUntilUp(check, log, signal);
    signal.throwIfAborted();
    const api = await startApi(platform, 'production', log);
    ends.push(() => api.close());
    log.info({ address: api.url }, 'the API is up');
    await passed;
  });
}

export async function runWorker(): Promise<number> {
  return run(
    ({ databaseUrl }) => ({ databaseUrl, poolLimits: WORKER_LIMITS, runsTools: true }),
    async (platform, log, { config, using, ends, signal, end }) => {
      const urls = workerUrls(config, using);
      const check = async (): Promise<void> => checkPooling(urls, (line) => log.warn(line));
      await untilMigrated(platform.commands.database.db, log, check, signal);
      const worker = beginWorker(platform, { onDrainRequest: end });
      ends.push(() => worker.end());
      await worker.started;
    },
  );
}

/** `runsTools`: it needs the secrets of tool packages. */
type Using<Url> = { databaseUrl: Url; poolLimits: PoolLimits; runsTools: boolean };

/** API processes may have a login of their own, which row security limits. */
function forRequests(config: Config): Using<string | null> {
  const namesTenant = config.apiDatabaseUrl !== null;
  const databaseUrl = config.apiDatabaseUrl ?? config.databaseUrl;
  return { databaseUrl, poolLimits: { ...requestLimits(config), namesTenant }, runsTools: false };
}

type Surroundings = {
  config: Config;
  using: Using<string>;
  /** Gets what closes each part, before the part can hold anything. */
  ends: (() => Promise<void>)[];
  /** Aborts when the process ends. */
  signal: AbortSignal;
  /** Ends the process as a signal does. */
  end: () => void;
};
/** Resolves when all runs; rejects if the process cannot go on, also after its parts have started. */
type Start = (platform: Platform, log: Logger, surroundings: Surroundings) => Promise<void>;

/** Opens the platform, starts the process, waits for a signal, and shuts down. */
async function run(usingOf: (config: Config) => Using<string | null>, start: Start): Promise<number> {
  const config = parseEnvironment(process.env);
  const { redisUrl } = config;
  const { databaseUrl, poolLimits, runsTools } = usingOf(config);
  if (databaseUrl === null || redisUrl === null) {
    throw new ConfigError(['DATABASE_URL and REDIS_URL must both be set; only `nightshift start` runs without them']);
  }
  const log = createLog(config.logLevel);
  const configFile = await loadConfigFile(process.cwd(), config.configFile, {
    secrets: fromEnvironment(process.env, runsTools),
  });
  const telemetry = await openTelemetry(config.otlpEndpoint, {
    version: VERSION,
    warn: (facts, message) => log.warn(facts, message),
  });
  const services = { databaseUrl, redisUrl, poolLimits, env: process.env, telemetry };
  const platform = await openPlatform(config, services, configFile, log);
  const ended = Promise.withResolvers<number>();
  const exitCode = Promise.race([untilSignal(log, { hide: () => configFile.hide }), ended.promise]);
  const end = (): void => ended.resolve(0);
  const stopping = new AbortController();
  const ends: Surroundings['ends'] = [() => platform.close()];
  const using = { databaseUrl, poolLimits, runsTools };
  const running = start(platform, log, { config, using, ends, end, signal: stopping.signal }).then(() => {
    flushCompileCache();
    return exitCode;
  });
  try {
    // An unreachable database can delay the start indefinitely; a signal ends the process anyway.
    return await Promise.race([running, exitCode]);
  } finally {
    stopping.abort();
    await endAll(ends, log);
  }
}
