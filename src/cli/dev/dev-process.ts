/** One process of `nightshift dev`: a worker and the API with the config as it is now, until it is told to end. */
import { ConfigError, parseEnvironment, type Config } from '../../config/config.ts';
import { createLog } from '../../platform/log.ts';
import { WORKER_LIMITS, openPlatform, startApi } from '../../platform/platform.ts';
import { untilSignal } from '../../platform/signals.ts';
import { VERSION } from '../../package-files.ts';
import { openTelemetry } from '../../telemetry/telemetry.ts';
import { loadConfigFile, type ConfigFile } from '../../tools/config/config-file.ts';
import { describeError } from '../describe-error.ts';
import { sendReport } from './report.ts';

/** The exit code after a failure that was reported. */
const REPORTED = 1;

export async function runDevProcess(): Promise<number> {
  const files = new Set<string>();
  try {
    return await run(files);
  } catch (error) {
    await sendReport({ kind: 'failed', message: describeError(error), files: [...files] });
    return REPORTED;
  }
}

async function run(files: Set<string>): Promise<number> {
  const config = parseEnvironment(process.env);
  const log = createLog(config.logLevel);
  // Ctrl-C reaches all processes of the terminal. The command decides when this one ends, and then sends SIGTERM.
  process.on('SIGINT', () => undefined);
  const exitCode = untilSignal(log, ['SIGTERM']);
  const load = loadConfigFile(process.cwd(), config.configFile, (file) => files.add(file));
  const bringUp = load.then((configFile) => serve(config, configFile, log, [...files]));
  // A config file may wait for anything. A signal ends the process anyway.
  const begun = await Promise.race([bringUp, exitCode]);
  if (typeof begun === 'number') return begun;
  const code = await exitCode;
  await begun();
  return code;
}

/** Resolves with what ends it. */
async function serve(
  config: Config,
  configFile: ConfigFile,
  log: ReturnType<typeof createLog>,
  files: readonly string[],
): Promise<() => Promise<void>> {
  const { databaseUrl, redisUrl } = config;
  if (databaseUrl === null) throw new ConfigError(['DATABASE_URL must be set; `nightshift dev` sets it']);
  const telemetry = await openTelemetry(config.otlpEndpoint, {
    version: VERSION,
    warn: (facts, message) => log.warn(facts, message),
  });
  const services = { databaseUrl, redisUrl, poolLimits: WORKER_LIMITS, env: process.env, telemetry };
  const platform = await openPlatform(config, services, configFile, log);
  const worker = await platform.startWorker();
  const api = await startApi(platform, 'laptop', log);
  await sendReport({
    kind: 'ready',
    url: api.url,
    configFile: configFile.path,
    tools: configFile.tools.length,
    roles: configFile.roles.size,
    providers: platform.providers.filter((name) => name !== 'simulated'),
    defaultModel: config.defaultModel,
    files,
  });
  return async () => {
    await Promise.all([api.close(), worker.drain()]);
    await platform.close();
  };
}
