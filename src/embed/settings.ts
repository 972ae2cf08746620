/** Reads the options of `createNightshift`. Throws one error that lists every fault and quotes no secret. */
import type { Logger } from 'pino';
import { ConfigError, LOG_LEVELS, parseEnvironment, type Config, type LogLevel } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import { createEmbeddedLog, logWith } from '../platform/log.ts';
import type { ConfigFile } from '../tools/config/config-file.ts';
import { NO_SETTINGS, parseConfigFile } from '../tools/config/parse-config.ts';
import { fromEnvironment } from '../tools/packages/secrets.ts';
import type { NightshiftOptions } from './options.ts';
import { invalidOptions } from './start-error.ts';

export type Settings = {
  /** Sign-in with OpenID Connect belongs to the console, which an embedded API does not have. */
  config: Config & { oidc: null };
  databaseUrl: string;
  configFile: ConfigFile;
  /** Why no worker can start: secrets of tool packages are missing. Empty: none is. */
  workerFaults: readonly string[];
  env: Environment;
  log: Logger;
  migrate: boolean;
};

/** Options that stand for an environment variable. */
const VARIABLES = {
  databaseUrl: 'DATABASE_URL',
  directDatabaseUrl: 'NIGHTSHIFT_DIRECT_DATABASE_URL',
  toolsDatabaseUrl: 'NIGHTSHIFT_TOOLS_DATABASE_URL',
  redisUrl: 'REDIS_URL',
  schema: 'NIGHTSHIFT_DATABASE_SCHEMA',
  prefix: 'NIGHTSHIFT_PREFIX',
  anthropicApiKey: 'ANTHROPIC_API_KEY',
  openaiApiKey: 'OPENAI_API_KEY',
  defaultModel: 'NIGHTSHIFT_DEFAULT_MODEL',
  concurrency: 'NIGHTSHIFT_CONCURRENCY',
  drainMs: 'NIGHTSHIFT_DRAIN_MS',
} as const satisfies Partial<Record<keyof NightshiftOptions, string>>;

const OTHERS = ['config', 'env', 'logger', 'migrate'] as const satisfies readonly (keyof NightshiftOptions)[];

const KNOWN: readonly string[] = [...Object.keys(VARIABLES), ...OTHERS];

export function parseOptions(options: NightshiftOptions): Settings {
  const faults = Object.keys(options)
    .filter((name) => !KNOWN.includes(name))
    .map((name) => `Unknown option ${name}. Known options: ${KNOWN.join(', ')}.`);
  const given = readConfig(options, faults);
  const { configFile, workerFaults } = readOperatorConfig(options, faults);
  const log = readLogger(options.logger, given?.logLevel ?? 'silent', faults);
  const { migrate = false, env = {} } = options;
  if (typeof migrate !== 'boolean') faults.push('migrate must be true or false');
  if (given?.databaseUrl === null)
    faults.push('databaseUrl is missing: give the URL of a PostgreSQL database, or DATABASE_URL in env');
  if (typeof given?.apiDatabaseUrl === 'string')
    faults.push('env.NIGHTSHIFT_API_DATABASE_URL is only for `nightshift api`: worker and API use databaseUrl here');
  if (faults.length > 0 || given === null || given.databaseUrl === null || log === null)
    throw invalidOptions('The options of createNightshift', faults);
  return {
    config: { ...given, oidc: null },
    databaseUrl: given.databaseUrl,
    configFile,
    workerFaults,
    env,
    log,
    migrate,
  };
}

/** Null: there are faults. */
function readConfig(options: NightshiftOptions, faults: string[]): Config | null {
  const { env = {} } = options;
  if (typeof env !== 'object' || env === null) {
    faults.push('env must be an object of environment variables, such as process.env');
    return null;
  }
  const variables: Record<string, string> = {};
  const names = new Map<string, string>();
  for (const [option, variable] of Object.entries(VARIABLES)) {
    const value: unknown = options[option as keyof typeof VARIABLES];
    if (value === undefined) continue;
    names.set(variable, option);
    if (typeof value === 'string' || typeof value === 'number') variables[variable] = String(value);
    else faults.push(`${option} must be a string or a number`);
  }
  try {
    // The collector belongs to the OpenTelemetry SDK of the service, whatever its value.
    return parseEnvironment({ LOG_LEVEL: 'warn', ...env, ...variables, OTEL_EXPORTER_OTLP_ENDPOINT: undefined });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    faults.push(...error.faults.map((fault) => fault.replace(/^\w+/, (name) => names.get(name) ?? `env.${name}`)));
    return null;
  }
}

type ReadConfig = Pick<Settings, 'configFile' | 'workerFaults'>;

/** Only a worker needs the secrets of tool packages. */
function readOperatorConfig({ config, env }: NightshiftOptions, faults: string[]): ReadConfig {
  const none = { configFile: { ...NO_SETTINGS, path: null }, workerFaults: [] };
  if (config === undefined) return none;
  const secrets = { ...fromEnvironment(Object(env)), advice: (name: string) => `Give ${name} in env` };
  const ofWorker = parseConfigFile(config, secrets);
  if (ofWorker.ok) return { configFile: { ...ofWorker.settings, path: null }, workerFaults: [] };
  const parsed = parseConfigFile(config, { ...secrets, isRequired: false });
  const atConfig = (fault: string): string => `config: ${fault}`;
  if (parsed.ok) return { configFile: { ...parsed.settings, path: null }, workerFaults: ofWorker.faults.map(atConfig) };
  faults.push(...ofWorker.faults.map(atConfig));
  return none;
}

/** Null: there is a fault. */
function readLogger(logger: unknown, otherwise: LogLevel, faults: string[]): Logger | null {
  const level = logger === undefined ? otherwise : LOG_LEVELS.find((known) => known === logger);
  if (level !== undefined) return createEmbeddedLog(level);
  if (isLogger(logger)) return logWith(logger);
  faults.push(`logger must be one of ${LOG_LEVELS.join(', ')}, or a logger with the methods of pino`);
  return null;
}

const LOGGER_METHODS = ['child', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

function isLogger(value: unknown): value is Logger {
  if (typeof value !== 'object' || value === null) return false;
  return LOGGER_METHODS.every((name) => name in value && typeof Reflect.get(value, name) === 'function');
}
