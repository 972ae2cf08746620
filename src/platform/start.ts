/**
 * `start`: API and worker in one process. Starts its own services where the environment names none. Reads `.env`, as `dev`
 * does: both work in the same folder, with the same data and keys.
 */
import { flushCompileCache } from 'node:module';
import path from 'node:path';
import type { ApiKey } from '../config/access.ts';
import { parseEnvironment, type Config } from '../config/config.ts';
import { describeEnvFile, loadEnvFile } from '../config/env-file.ts';
import { DEFAULT_TENANT_NAME, type ContextId } from '../core/ids.ts';
import { startServices } from '../dev/services.ts';
import { loadConfigFile } from '../tools/config/config-file.ts';
import { isSecured } from '../config/secured.ts';
import { refuseBusyPort } from '../api/server/busy-port.ts';
import { VERSION } from '../package-files.ts';
import { beginWorker } from './begin-worker.ts';
import { activeTenantOf, firstContext } from './first-context.ts';
import { endAll } from './end-all.ts';
import { createLog } from './log.ts';
import { whenUp } from '../db/connection/when-up.ts';
import { hasKeys } from '../db/write/api-keys.ts';
import { keyWith } from '../config/key-with.ts';
import { AS_IT_IS } from '../tools/packages/hide.ts';
import { fromEnvironment } from '../tools/packages/secrets.ts';
import { openPlatform, startApi, type Platform } from './platform.ts';
import { WORKER_LIMITS } from './services/pool-limits.ts';
import { workerUrls } from './schema/check-pooling.ts';
import { migrateAtStart } from './schema/migrate-at-start.ts';
import { openTelemetry } from '../telemetry/telemetry.ts';
import { untilSignal } from './signals.ts';
import { tour } from './tour.ts';

export async function start(): Promise<number> {
  const envFile = loadEnvFile(process.cwd());
  const given = parseEnvironment(process.env);
  const log = createLog(given.logLevel);
  const settings = describeEnvFile(envFile);
  // Before anything is migrated: the file may name another database than the one that is meant.
  for (const line of settings) log.info(line);
  let hide = AS_IT_IS;
  const exitCode = untilSignal(log, { hide: () => hide });
  const configFile = await loadConfigFile(process.cwd(), given.configFile, {
    secrets: fromEnvironment(process.env),
  });
  hide = configFile.hide;
  await refuseBusyPort(given);
  const services = await startServices({
    env: process.env,
    cwd: process.cwd(),
    log: (line) => log.debug({ service: line }, 'service'),
  });
  const config = { ...given, workspaces: given.workspaces ?? path.join(services.folder, 'workspaces') };
  const ends: (() => Promise<void>)[] = [() => services.stop()];
  const stopping = new AbortController();
  const { signal } = stopping;
  const bringUp = async (): Promise<number> => {
    const urls = workerUrls(config, { databaseUrl: services.databaseUrl, poolLimits: WORKER_LIMITS });
    await migrateAtStart(urls, (line) => log.warn(line));
    const telemetry = await openTelemetry(config.otlpEndpoint, {
      version: VERSION,
      warn: (facts, message) => log.warn(facts, message),
    });
    const platform = await openPlatform(
      config,
      { ...services, poolLimits: WORKER_LIMITS, env: process.env, telemetry },
      configFile,
      log,
    );
    ends.push(() => platform.close());
    // Before this process registers a worker process: the tour is only for databases in which none ever ran.
    const touring = await whenUp(() => tour(platform.commands, config));
    signal.throwIfAborted();
    const worker = beginWorker(platform);
    ends.push(() => worker.end());
    await worker.started;
    signal.throwIfAborted();
    const api = await startApi(platform, 'laptop', log);
    ends.push(() => api.close());
    const lines = [
      ...readyLines(platform, api.url, [...services.describe, ...settings], configFile.path),
      ...tourLines(api.url, touring),
      ...(await exampleLines(platform, config, api.url)),
    ];
    process.stdout.write(`\n${lines.join('\n')}\n`);
    flushCompileCache();
    return exitCode;
  };
  try {
    // A signal during the start ends it: what has started, or is starting, is closed.
    return await Promise.race([bringUp(), exitCode]);
  } finally {
    stopping.abort();
    await endAll(ends, log);
  }
}

function readyLines(
  { providers }: Platform,
  address: string,
  services: readonly string[],
  configFile: string | null,
): string[] {
  const keys = providers.filter((name) => name !== 'simulated');
  return [
    `Nightshift ${VERSION} is ready at ${address}`,
    ...services.map((line) => `  ${line}`),
    `  Providers: ${keys.length === 0 ? 'no keys set (ANTHROPIC_API_KEY, OPENAI_API_KEY)' : keys.join(', ')}; simulated (needs no key)`,
    `  ${configFile === null ? 'No nightshift.config.ts found: no custom tools or roles' : `Tools and roles from ${configFile}`}`,
    '',
  ];
}

/** A shell one-liner that posts an input, waits for its job and prints it. Empty: its key would not be known. */
async function exampleLines(platform: Platform, config: Config, address: string): Promise<string[]> {
  const { commands } = platform;
  const ofEnvironment = keyWith(config.apiKeys, ['read', 'run']);
  if (ofEnvironment === undefined && isSecured(config)) return [];
  const isMade = ofEnvironment === undefined && (await whenUp(() => hasKeys(commands.database.db)));
  const tenantId = await whenUp(() => activeTenantOf(commands.database.db, ofEnvironment));
  if (tenantId === null) return [];
  const contextId = await whenUp(() => firstContext(commands, tenantId));
  const needsKey = ofEnvironment !== undefined || isMade;
  const curl = needsKey ? `curl -s -H "authorization: Bearer $NIGHTSHIFT_API_KEY"` : 'curl -s';
  const post = `${curl} ${address}/api/contexts/${contextId}/messages -H 'content-type: application/json' -d '{"content":"Hello, Nightshift!"}'`;
  return [
    `Try it${needsKey ? ` (with NIGHTSHIFT_API_KEY set to ${keyText(ofEnvironment)})` : ''}:`,
    `  ${curl} "${address}/api/jobs/$(${post} | grep -o '"job_id":"[^"]*' | cut -d'"' -f4)?wait_ms=30000"`,
    '',
  ];
}

function keyText(ofEnvironment: ApiKey | undefined): string {
  return ofEnvironment === undefined
    ? `a key of the tenant ${DEFAULT_TENANT_NAME} with the scopes read and run`
    : 'the first key of NIGHTSHIFT_API_KEYS that may read and run';
}

/** `touring` null: there is no tour. */
function tourLines(address: string, touring: ContextId | null): string[] {
  if (touring === null) return [];
  return [
    `Tour: watch an example job at ${address}/contexts/${touring}`,
    `  It waits for your approval at ${address}/inbox`,
    '',
  ];
}
