/**
 * The configuration from environment variables, parsed once. `parseEnvironment` is pure and throws one error that lists
 * every invalid variable. The error never quotes a value, because many are secrets. `.env.example` documents each
 * variable.
 */
import { isIP } from 'node:net';
import { parsedIf, readEnvironment, type Environment, type Parsed } from './environment.ts';
import { DATABASE_SCHEMA } from '../core/database-schema.ts';
import { LIMITS } from '../core/limits.ts';
import { NO_LIMITS, type TenantLimits } from '../core/access/quotas.ts';
import { TREE_LIMITS, type TreeLimits } from '../core/workers/worker-limits.ts';
import { formatModelName, parseModelName } from '../core/model/model.ts';
import { SCOPES, isScope, type Scopes } from '../core/access/scopes.ts';

/** The API key and base URL of a provider; null: not set. */
export type ProviderAccess = { apiKey: string | null; baseUrl: string | null };

/** One bearer key of the API, and the name of its tenant. */
export type ApiKey = { key: string; tenant: string; scopes: Scopes };

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type Config = {
  /**
   * Null: `start` starts its own PostgreSQL, and a Redis from PATH if there is one. `worker` needs both, `api` too, if it
   * has no URL of its own.
   */
  databaseUrl: string | null;
  /** For API processes, if they have a login of their own. */
  apiDatabaseUrl: string | null;
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
  /** Empty, and no `adminKey`: no access control, so the API listens on loopback only. */
  apiKeys: readonly ApiKey[];
  /**
   * The operator's bearer key: gives access to metrics and information about the whole installation, not to tenant
   * data.
   */
  adminKey: string | null;
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
  /** Separates installations that share a Redis. */
  prefix: string;
  /**
   * The PostgreSQL schema of all tables. Separates installations that share a database, and the application's own
   * tables.
   */
  databaseSchema: string;
  /** Database connections of one process. */
  databasePoolSize: number;
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
    super(`Invalid environment:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
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
  const config: Config = {
    ...providers,
    databaseUrl: read.url('DATABASE_URL', ['postgres:', 'postgresql:']),
    apiDatabaseUrl: read.url('NIGHTSHIFT_API_DATABASE_URL', ['postgres:', 'postgresql:']),
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
    secretKeys: read.parsed('NIGHTSHIFT_SECRET_KEY', parseSecrets) ?? [],
    corsOrigins: read.parsed('NIGHTSHIFT_CORS_ORIGINS', parseOrigins) ?? [],
    allowedHosts: read.parsed('NIGHTSHIFT_ALLOWED_HOSTS', parseHosts) ?? [],
    trustedProxies: read.parsed('NIGHTSHIFT_TRUSTED_PROXIES', parseProxies) ?? [],
    configFile: read.text('NIGHTSHIFT_CONFIG'),
    workspaces: read.text('NIGHTSHIFT_WORKSPACES'),
    tour: read.oneOf('NIGHTSHIFT_TOUR', 'on', ['on', 'off']) === 'on',
    prefix: read.parsed('NIGHTSHIFT_PREFIX', parsePrefix) ?? 'nightshift',
    databaseSchema: read.parsed('NIGHTSHIFT_DATABASE_SCHEMA', parseSchemaName) ?? DATABASE_SCHEMA,
    databasePoolSize: read.integer('NIGHTSHIFT_DATABASE_POOL_SIZE', 10, 1, 1_000),
    defaultModel: read.parsed('NIGHTSHIFT_DEFAULT_MODEL', parseModel) ?? modelOfOnlyProvider(providers),
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
  const faults = [...read.faults, ...outOfOrder(config), ...sharedKey(config)];
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

/** The default model if exactly one provider is configured. With several providers, none is preferred. */
function modelOfOnlyProvider({ anthropic, openai }: Pick<Config, 'anthropic' | 'openai'>): string {
  const models = [
    ...(anthropic.apiKey === null ? [] : ['anthropic/claude-sonnet-4-5']),
    ...(openai.apiKey === null ? [] : ['openai/gpt-5']),
    // A base URL without a key means a local server, with the one model that it was started with.
    ...(openai.apiKey === null && openai.baseUrl !== null ? ['openai-chat/default'] : []),
  ];
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

function sharedKey({ adminKey, apiKeys }: Config): string[] {
  return apiKeys.some(({ key }) => key === adminKey)
    ? ['NIGHTSHIFT_ADMIN_KEY must not be one of NIGHTSHIFT_API_KEYS']
    : [];
}

const MEGABYTE = 1024 * 1024;

function parseModel(value: string): Parsed<string> {
  const model = parseModelName(value);
  return model === null
    ? { ok: false, fault: 'must have the form provider/model' }
    : { ok: true, value: formatModelName(model) };
}

function parsePrefix(value: string): Parsed<string> {
  const isValid = /^[A-Za-z0-9_.-]{1,64}$/.test(value);
  return parsedIf(isValid, value, 'must consist of 1 to 64 letters, digits, dots, dashes and underscores');
}

/** Such names need no quoting. PostgreSQL reserves `pg_`; in `public`, an application may have its own `jobs` table. */
function parseSchemaName(value: string): Parsed<string> {
  return parsedIf(
    /^[a-z_][a-z0-9_]{0,62}$/.test(value) && !value.startsWith('pg_') && value !== 'public',
    value,
    'must be a PostgreSQL schema other than public: lower-case letters, digits and underscores, not starting with pg_',
  );
}

function parseHosts(value: string): Parsed<string[]> {
  const hosts = items(value).map((host) => host.toLowerCase());
  const isValid = hosts.every((host) => /^[a-z0-9.-]+$/.test(host) || /^\[[0-9a-f:.]+\]$/.test(host));
  return parsedIf(isValid, hosts, 'must be a comma-separated list of host names without ports');
}

function parseSecrets(value: string): Parsed<string[]> {
  const secrets = items(value);
  const isValid = secrets.length > 0 && secrets.every((secret) => /^[\x21-\x7E]{32,}$/.test(secret));
  return parsedIf(
    isValid,
    secrets,
    'must be at least 32 printable ASCII characters without spaces and commas; several, the current one first, are separated by commas',
  );
}

/** As a browser sends them in `Origin`. */
function parseOrigins(value: string): Parsed<string[]> {
  const origins = items(value);
  const isOrigin = (text: string): boolean => {
    const url = URL.parse(text);
    return url !== null && /^https?:$/.test(url.protocol) && url.origin === text && !text.includes('*');
  };
  return parsedIf(
    origins.length > 0 && origins.every(isOrigin),
    origins,
    'must be a comma-separated list of origins such as https://app.example.com, without a path or a wildcard',
  );
}

function parseProxies(value: string): Parsed<string[]> {
  const proxies = items(value);
  const isValid = proxies.length > 0 && proxies.every(isNetwork);
  return parsedIf(isValid, proxies, 'must be a comma-separated list of addresses or networks (10.0.0.0/8, fd00::/8)');
}

/** Both logins or none: with one of them, a worker process could not see the transactions of API processes. */
function bothOf(api: string | null, worker: string | null, faults: string[]): Config['logins'] {
  if (api !== null && worker !== null) return { api, worker };
  if (api !== null || worker !== null)
    faults.push('NIGHTSHIFT_API_LOGIN and NIGHTSHIFT_WORKER_LOGIN must both be set, or none of them');
  return null;
}

/** `/0` is refused: any client could then claim any address. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const most = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  if (bits === undefined || more.length > 0) return most > 0 && more.length === 0;
  return /^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= most;
}

function parseAdminKey(value: string): Parsed<string> {
  const isValid = /^[\x21-\x7E]{16,}$/.test(value);
  return parsedIf(isValid, value, 'must be at least 16 printable ASCII characters without spaces');
}

function parseApiKeys(value: string): Parsed<ApiKey[]> {
  const entries = items(value);
  const keys: ApiKey[] = [];
  for (const [index, entry] of entries.entries()) {
    const key = parseApiKey(entry);
    if (key === null)
      return {
        ok: false,
        fault: `must be a comma-separated list of key:tenant or key:tenant:scope+scope, with the scopes ${SCOPES.join(', ')} and no colon in a key; entry ${index + 1} is invalid`,
      };
    const double = keys.findIndex((known) => known.key === key.key);
    if (double !== -1)
      return { ok: false, fault: `contains the same key twice, in entries ${double + 1} and ${index + 1}` };
    keys.push(key);
  }
  return parsedIf(keys.length > 0, keys, 'contains no key');
}

/** A key has no colon, so that a misspelt scope is not taken for a tenant. */
function parseApiKey(entry: string): ApiKey | null {
  const [, key, tenant, names] = /^([\x21-\x39\x3B-\x7E]+):([A-Za-z0-9_.-]{1,64})(?::([a-z+]+))?$/.exec(entry) ?? [];
  if (key === undefined || tenant === undefined) return null;
  const scopes: readonly string[] = names?.split('+') ?? SCOPES;
  return scopes.every(isScope) ? { key, tenant, scopes: new Set(scopes) } : null;
}

function items(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
