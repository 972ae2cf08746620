/** One process of `nightshift dev`: a worker and the API with the config as it is now, until it is told to end. */
import { ConfigError, parseEnvironment, type Config } from '../../config/config.ts';
import { beginWorker } from '../../platform/begin-worker.ts';
import { endAll } from '../../platform/end-all.ts';
import { createLog } from '../../platform/log.ts';
import { openPlatform, startApi } from '../../platform/platform.ts';
import { WORKER_LIMITS } from '../../platform/services/pool-limits.ts';
import { untilSignal } from '../../platform/signals.ts';
import { VERSION } from '../../package-files.ts';
import { openTelemetry } from '../../telemetry/telemetry.ts';
import { loadConfigFile, type ConfigFile } from '../../tools/config/config-file.ts';
import { AS_IT_IS } from '../../tools/packages/hide.ts';
import { fromEnvironment } from '../../tools/packages/secrets.ts';
import { describeError } from '../describe-error.ts';
import { sendReport, type Ready } from './report.ts';

/** The exit code after a failure that was reported. */
const REPORTED = 1;

export async function runDevProcess(): Promise<number> {
  try {
    return await run();
  } catch (error) {
    await sendReport({ kind: 'failed', message: describeError(error) });
    return REPORTED;
  }
}

type End = () => Promise<void>;

async function run(): Promise<number> {
  const config = parseEnvironment(process.env);
  const log = createLog(config.logLevel);
  // Ctrl-C reaches all processes of the terminal. The command decides when this one ends, and then sends SIGTERM.
  process.on('SIGINT', () => undefined);
  let hide = AS_IT_IS;
  const exitCode = untilSignal(log, { hide: () => hide, signals: ['SIGTERM'] });
  const ends: End[] = [];
  const stopping = new AbortController();
  const bringUp = async (): Promise<number> => {
    const configFile = await loadConfigFile(process.cwd(), config.configFile, {
      secrets: fromEnvironment(process.env),
      onFile: (file) => void sendReport({ kind: 'loading', file }),
    });
    hide = configFile.hide;
    await sendReport(await serve(config, configFile, log, { ends, signal: stopping.signal }));
    return exitCode;
  };
  try {
    // A config file may wait for anything. A signal ends the process anyway.
    return await Promise.race([bringUp(), exitCode]);
  } finally {
    stopping.abort();
    await endAll(ends, log);
  }
}

/** `ends` gets what closes each part, before the part can hold anything. */
async function serve(
  config: Config,
  configFile: ConfigFile,
  log: ReturnType<typeof createLog>,
  { ends, signal }: { ends: End[]; signal: AbortSignal },
): Promise<Ready> {
  const { databaseUrl, redisUrl } = config;
  if (databaseUrl === null) throw new ConfigError(['DATABASE_URL must be set; `nightshift dev` sets it']);
  const telemetry = await openTelemetry(config.otlpEndpoint, {
    version: VERSION,
    warn: (facts, message) => log.warn(facts, message),
  });
  const services = { databaseUrl, redisUrl, poolLimits: WORKER_LIMITS, env: process.env, telemetry };
  const platform = await openPlatform(config, services, configFile, log);
  // The API accepts nothing more while the worker drains: the next process serves new requests.
  const parts: End[] = [];
  ends.push(
    () => platform.close(),
    async () => void (await Promise.all(parts.map((end) => end()))),
  );
  const api = await startApi(platform, 'laptop', log);
  parts.push(() => api.close());
  signal.throwIfAborted();
  // The worker comes last: it claims jobs as soon as it runs. A signal while it starts drains it, too.
  const worker = beginWorker(platform);
  parts.push(() => worker.end());
  await worker.started;
  return {
    kind: 'ready',
    url: api.url,
    configFile: configFile.path,
    tools: configFile.tools.length,
    roles: configFile.roles.size,
    providers: platform.providers.filter((name) => name !== 'simulated'),
    defaultModel: config.defaultModel,
  };
}
