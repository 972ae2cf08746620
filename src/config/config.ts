/**
 * The configuration from environment variables, parsed once. `parseEnvironment` is pure and throws one error that lists
 * every invalid variable. The error never quotes a value, because many are secrets. `.env.example` documents each
 * variable.
 */
import {
  parseAdminKey,
  parseApiKeys,
  parseHosts,
  parseOrigins,
  parseProxies,
  parseSecrets,
  type ApiKey,
} from './access.ts';
import { parsedIf, readEnvironment, type Environment, type Parsed } from './environment.ts';
import { parseClientSecret, parseIssuer, parsePublicUrl, toOidcClient, type OidcClient } from './oidc.ts';
import { DATABASE_SCHEMA, SCHEMA_NAME, isSchemaName } from '../core/database-schema.ts';
import { LIMITS } from '../core/limits.ts';
import { NO_LIMITS, type TenantLimits } from '../core/access/quotas.ts';
import { TREE_LIMITS, type TreeLimits } from '../core/workers/worker-limits.ts';
import { formatModelName, parseModelName } from '../core/model/model.ts';
import { NO_OIDC_SETTINGS, type OidcSettings } from '../core/access/oidc.ts';

/** The API key and base URL of a provider; null: not set. */
export type ProviderAccess = { apiKey: string | null; baseUrl: string | null };

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type Config = {
  /**
   * Null: `start` starts its own PostgreSQL, and a Redis from PATH if there is one. `worker` needs both, `api` too, if it
   * has no URL of its own.
   */
  databaseUrl: string | null;
  /** The server itself, if `databaseUrl` leads to a pooler: for what needs a session. Null: `databaseUrl` is used. */
  directDatabaseUrl: string | null;
  /** For API processes, if they have a login of their own. */
  apiDatabaseUrl: string | null;
  /** The login of transactional tools, in the same database; null: this process cannot run such tools. */
  toolsDatabaseUrl: string | null;
  /** PostgreSQL logins that `migrate` gives rights to; null: none. */
  logins: { api: string; worker: string } | null;
  redisUrl: string | null;
  host: string;
  port: number;
  anthropic: ProviderAccess;
  openai: ProviderAccess;
  logLevel: LogLevel;
  /** Seconds of inactivity after which a session of `/api/chat` is archived. */
  sessionTimeoutS: number;
  /** Contexts that one worker process runs at once. */
  concurrency: number;
  reservedSlots: number;
  /** Empty, no `adminKey` and no `oidc`: no access control, so the API listens on loopback only. */
  apiKeys: readonly ApiKey[];
  /**
   * The operator's bearer key: gives access to metrics and information about the whole installation, not to tenant
   * data.
   */
  adminKey: string | null;
  /** A bearer key that gives access to metrics only. */
  metricsKey: string | null;
  /** Sign-in to the console with OpenID Connect; null: with API keys only. */
  oidc: OidcClient | null;
  /** Who may sign in so: set in the config file. */
  oidcSettings: OidcSettings;
  /** Sign tokens, encrypt secrets. The first one signs and encrypts. Empty: the API makes no tokens and webhooks. */
  secretKeys: readonly string[];
  /** Web origins whose pages may call the API with a key or a token. */
  corsOrigins: readonly string[];
  /** Host names that an API without keys accepts, in addition to the loopback names. */
  allowedHosts: readonly string[];
  /** Addresses and networks of reverse proxies whose `x-forwarded-for` is trusted. Empty: the header is ignored. */
  trustedProxies: readonly string[];
  /** Path of the config file; null: the working directory is searched. */
  configFile: string | null;
  workspaces: string | null;
  /** Whether `start` creates a tour in an empty database. */
  tour: boolean;
  /** The OTLP collector for traces and metrics; null: nothing is sent. */
  otlpEndpoint: string | null;
  /** Separates installations that share a Redis. */
  prefix: string;
  /**
   * The PostgreSQL schema of all tables. Separates installations that share a database, and the application's own
   * tables.
   */
  databaseSchema: string;
  /** Database connections of one process. */
  databasePoolSize: number;
  /** Connections for transactional tools: as many calls of them run at once. */
  toolsDatabasePoolSize: number;
  /** `provider/model`: the model where neither worker nor role sets one. */
  defaultModel: string;
  /** Queued inputs of one context. */
  queueLimit: number;
  /** Limits of worker trees, and of each tenant that has none of its own: set in the config file. */
  trees: TreeLimits;
  tenantLimits: TenantLimits;
  /** Event streams of one API process. */
  maxStreams: number;
  /** The maximum size of an imported context, in bytes. */
  importBytes: number;
  /** All in milliseconds. */
  heartbeatIntervalMs: number;
  heartbeatTimeoutMs: number;
  leaseMs: number;
  sweepMs: number;
  stopGraceMs: number;
  drainMs: number;
  idleStreamMs: number;
  requestMs: number;
};

export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    const [only] = faults;
    const isOne = only !== undefined && faults.length === 1;
    super(`Invalid environment:${isOne ? ` ${only}` : faults.map((fault) => `\n  ${fault}`).join('')}`);
    this.faults = faults;
  }
}

export function parseEnvironment(env: Environment): Config {
  const read = readEnvironment(env);
  const providers: Pick<Config, 'anthropic' | 'openai'> = {
    anthropic: {
      apiKey: read.text('ANTHROPIC_API_KEY'),
      baseUrl: read.url('ANTHROPIC_BASE_URL', ['http:', 'https:']),
    },
    openai: {
      apiKey: read.text('OPENAI_API_KEY'),
      baseUrl: read.url('OPENAI_BASE_URL', ['http:', 'https:']),
    },
  };
  const oidc = toOidcClient(
    {
      issuer: read.parsed('NIGHTSHIFT_OIDC_ISSUER', parseIssuer),
      clientId: read.text('NIGHTSHIFT_OIDC_CLIENT_ID'),
      clientSecret: read.parsed('NIGHTSHIFT_OIDC_CLIENT_SECRET', parseClientSecret),
      publicUrl: read.parsed('NIGHTSHIFT_PUBLIC_URL', parsePublicUrl),
    },
    read.faults,
  );
  const config: Config = {
    ...providers,
    databaseUrl: read.url('DATABASE_URL', ['postgres:', 'postgresql:']),
    directDatabaseUrl: read.url('NIGHTSHIFT_DIRECT_DATABASE_URL', ['postgres:', 'postgresql:']),
    apiDatabaseUrl: read.url('NIGHTSHIFT_API_DATABASE_URL', ['postgres:', 'postgresql:']),
    toolsDatabaseUrl: read.url('NIGHTSHIFT_TOOLS_DATABASE_URL', ['postgres:', 'postgresql:']),
    logins: bothOf(read.text('NIGHTSHIFT_API_LOGIN'), read.text('NIGHTSHIFT_WORKER_LOGIN'), read.faults),
    redisUrl: read.url('REDIS_URL', ['redis:', 'rediss:']),
    host: read.text('HOST') ?? '127.0.0.1',
    port: read.integer('PORT', 3000, 0, 65_535),
    logLevel: read.oneOf('LOG_LEVEL', 'info', LOG_LEVELS),
    sessionTimeoutS: read.integer('DEFAULT_SESSION_TIMEOUT', 1_800, 1, LIMITS.idleTimeoutS),
    concurrency: read.integer('NIGHTSHIFT_CONCURRENCY', 100, 1, 100_000),
    reservedSlots: read.integer('NIGHTSHIFT_RESERVED_SLOTS', 16, 0, 100_000),
    apiKeys: read.parsed('NIGHTSHIFT_API_KEYS', parseApiKeys) ?? [],
    adminKey: read.parsed('NIGHTSHIFT_ADMIN_KEY', parseAdminKey),
    metricsKey: read.parsed('NIGHTSHIFT_METRICS_KEY', parseAdminKey),
    oidc,
    oidcSettings: NO_OIDC_SETTINGS,
    secretKeys: read.parsed('NIGHTSHIFT_SECRET_KEY', parseSecrets) ?? [],
    corsOrigins: read.parsed('NIGHTSHIFT_CORS_ORIGINS', parseOrigins) ?? [],
    allowedHosts: read.parsed('NIGHTSHIFT_ALLOWED_HOSTS', parseHosts) ?? [],
    trustedProxies: read.parsed('NIGHTSHIFT_TRUSTED_PROXIES', parseProxies) ?? [],
    configFile: read.text('NIGHTSHIFT_CONFIG'),
    workspaces: read.text('NIGHTSHIFT_WORKSPACES'),
    tour: read.oneOf('NIGHTSHIFT_TOUR', 'on', ['on', 'off']) === 'on',
    otlpEndpoint: read.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']),
    prefix: read.parsed('NIGHTSHIFT_PREFIX', parsePrefix) ?? 'nightshift',
    databaseSchema: read.parsed('NIGHTSHIFT_DATABASE_SCHEMA', parseSchemaName) ?? DATABASE_SCHEMA,
    databasePoolSize: read.integer('NIGHTSHIFT_DATABASE_POOL_SIZE', 10, 1, 1_000),
    toolsDatabasePoolSize: read.integer('NIGHTSHIFT_TOOLS_DATABASE_POOL_SIZE', 5, 1, 1_000),
    defaultModel:
      read.parsed('NIGHTSHIFT_DEFAULT_MODEL', (value) => parseModel(value, providers)) ??
      modelOfOnlyProvider(providers),
    queueLimit: read.integer('NIGHTSHIFT_QUEUE_LIMIT', LIMITS.queuedInputs, 1, 1_000_000),
    trees: TREE_LIMITS,
    tenantLimits: NO_LIMITS,
    maxStreams: read.integer('NIGHTSHIFT_MAX_STREAMS', 10_000, 1, 1_000_000),
    importBytes: read.integer('NIGHTSHIFT_IMPORT_MB', 256, 1, 100_000) * MEGABYTE,
    heartbeatIntervalMs: read.milliseconds('NIGHTSHIFT_HEARTBEAT_INTERVAL_MS', 300),
    heartbeatTimeoutMs: read.milliseconds('NIGHTSHIFT_HEARTBEAT_TIMEOUT_MS', 1_000),
    leaseMs: read.milliseconds('NIGHTSHIFT_LEASE_MS', 15_000),
    sweepMs: read.milliseconds('NIGHTSHIFT_SWEEP_MS', 1_000),
    stopGraceMs: read.milliseconds('NIGHTSHIFT_STOP_GRACE_MS', 5_000),
    drainMs: read.milliseconds('NIGHTSHIFT_DRAIN_MS', 25_000),
    idleStreamMs: read.milliseconds('NIGHTSHIFT_IDLE_STREAM_MS', 120_000),
    requestMs: read.milliseconds('NIGHTSHIFT_REQUEST_MS', 10_000),
  };
  const faults = [...read.faults, ...outOfOrder(config), ...sharedKey(config), ...directAlone(config)];
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

/** A model of each configured provider. */
export function usualModels({ anthropic, openai }: Pick<Config, 'anthropic' | 'openai'>): string[] {
  return [
    ...(anthropic.apiKey === null ? [] : ['anthropic/claude-sonnet-5-5']),
    ...(openai.apiKey === null ? [] : ['openai/gpt-5']),
    // A base URL without a key means a local server, with the one model that it was started with.
    ...(openai.apiKey === null && openai.baseUrl !== null ? ['openai-chat/default'] : []),
  ];
}

/** The default model if exactly one provider is configured. With several providers, none is preferred. */
function modelOfOnlyProvider(config: Pick<Config, 'anthropic' | 'openai'>): string {
  const models = usualModels(config);
  const [only] = models;
  return only !== undefined && models.length === 1 ? only : 'simulated/default';
}

/** Checks that the timeouts leave a live process enough time between two heartbeats. */
function outOfOrder({ heartbeatIntervalMs, heartbeatTimeoutMs, leaseMs }: Config): string[] {
  return [
    ...(heartbeatTimeoutMs > heartbeatIntervalMs
      ? []
      : ['NIGHTSHIFT_HEARTBEAT_TIMEOUT_MS must be more than NIGHTSHIFT_HEARTBEAT_INTERVAL_MS']),
    ...(leaseMs > heartbeatTimeoutMs ? [] : ['NIGHTSHIFT_LEASE_MS must be more than NIGHTSHIFT_HEARTBEAT_TIMEOUT_MS']),
  ];
}

/** `start` without DATABASE_URL has a server of its own: the heartbeats would go to another one. */
function directAlone({ databaseUrl, directDatabaseUrl }: Config): string[] {
  return databaseUrl === null && directDatabaseUrl !== null
    ? ['NIGHTSHIFT_DIRECT_DATABASE_URL is only used with DATABASE_URL: set both, to the same database']
    : [];
}

function sharedKey({ adminKey, metricsKey, apiKeys }: Config): string[] {
  const isOfTenant = (given: string | null): boolean => apiKeys.some(({ key }) => key === given);
  return [
    ...(isOfTenant(adminKey) ? ['NIGHTSHIFT_ADMIN_KEY must not be one of NIGHTSHIFT_API_KEYS'] : []),
    ...(isOfTenant(metricsKey) || (metricsKey !== null && metricsKey === adminKey)
      ? ['NIGHTSHIFT_METRICS_KEY must not be NIGHTSHIFT_ADMIN_KEY or one of NIGHTSHIFT_API_KEYS']
      : []),
  ];
}

const MEGABYTE = 1024 * 1024;

/** A model without a provider is one of the only provider that is configured. */
function parseModel(value: string, providers: Pick<Config, 'anthropic' | 'openai'>): Parsed<string> {
  const [only, ...more] = usualModels(providers);
  const provider = only === undefined || more.length > 0 || value.includes('/') ? null : parseModelName(only)?.provider;
  const model = parseModelName(provider ? `${provider}/${value}` : value);
  return model === null
    ? { ok: false, fault: 'must have the form provider/model' }
    : { ok: true, value: formatModelName(model) };
}

function parsePrefix(value: string): Parsed<string> {
  const isValid = /^[A-Za-z0-9_.-]{1,64}$/.test(value);
  return parsedIf(isValid, value, 'must consist of 1 to 64 letters, digits, dots, dashes and underscores');
}

function parseSchemaName(value: string): Parsed<string> {
  return parsedIf(isSchemaName(value), value, `must be ${SCHEMA_NAME}`);
}

/** Both logins or none: with one of them, a worker process could not see the transactions of API processes. */
function bothOf(api: string | null, worker: string | null, faults: string[]): Config['logins'] {
  if (api !== null && worker !== null) return { api, worker };
  if (api !== null || worker !== null)
    faults.push('NIGHTSHIFT_API_LOGIN and NIGHTSHIFT_WORKER_LOGIN must both be set, or none of them');
  return null;
}
