import { ALL_SCOPES } from '../../../src/core/access/scopes.ts';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, parseEnvironment } from '../../../src/config/config.ts';
import type { Environment } from '../../../src/config/environment.ts';
import { OF_OPENTELEMETRY } from '../../docs/variables-of-sdks.ts';

const EXAMPLE = readFileSync(path.join(import.meta.dirname, '../../../.env.example'), 'utf8');
const SOURCE = readFileSync(path.join(import.meta.dirname, '../../../src/config/config.ts'), 'utf8');

function faultsOf(env: Environment): readonly string[] {
  try {
    parseEnvironment(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

/** The variables of `.env.example`. */
function exampleOf(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => /^[A-Z_]+=/.test(line));
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/, 2)));
}

describe('the configuration', () => {
  test('of an empty environment is the default', () => {
    expect(parseEnvironment({})).toEqual({
      databaseUrl: null,
      directDatabaseUrl: null,
      apiDatabaseUrl: null,
      toolsDatabaseUrl: null,
      logins: null,
      redisUrl: null,
      host: '127.0.0.1',
      port: 3000,
      anthropic: { apiKey: null, baseUrl: null },
      openai: { apiKey: null, baseUrl: null },
      otlpEndpoint: null,
      logLevel: 'info',
      sessionTimeoutS: 1800,
      concurrency: 100,
      reservedSlots: 16,
      apiKeys: [],
      adminKey: null,
      metricsKey: null,
      oidc: null,
      oidcSettings: { grants: [], groupsClaim: 'groups', scopes: [], name: null, clientAuth: null },
      secretKeys: [],
      corsOrigins: [],
      allowedHosts: [],
      trustedProxies: [],
      configFile: null,
      trees: { limits: { depth: 8, children: 1_000, workers: 10_000 }, tenantWorkers: null },
      tenantLimits: {},
      workspaces: null,
      tour: true,
      prefix: 'nightshift',
      databaseSchema: 'nightshift',
      databasePoolSize: 10,
      toolsDatabasePoolSize: 5,
      defaultModel: 'simulated/default',
      queueLimit: 1000,
      maxStreams: 10000,
      importBytes: 256 * 1024 * 1024,
      heartbeatIntervalMs: 300,
      heartbeatTimeoutMs: 1000,
      leaseMs: 15000,
      sweepMs: 1000,
      stopGraceMs: 5000,
      drainMs: 25000,
      idleStreamMs: 120000,
      requestMs: 10000,
    });
  });

  test('is the default, too, for what the example shows', () => {
    expect(parseEnvironment(exampleOf(EXAMPLE))).toEqual(parseEnvironment({}));
  });

  test('reads no variable that the example does not show, and shows none that is not read', () => {
    const read = [...SOURCE.matchAll(/read\.\w+\('([A-Z_]+)'/g)].map(([, name]) => name ?? '');
    expect(Object.keys(exampleOf(EXAMPLE)).toSorted()).toEqual([...read, ...OF_OPENTELEMETRY].toSorted());
  });

  test('accepts every variable', () => {
    const config = parseEnvironment({
      DATABASE_URL: 'postgres://u:p@db/n',
      NIGHTSHIFT_DIRECT_DATABASE_URL: 'postgres://u:p@server/n',
      NIGHTSHIFT_API_DATABASE_URL: 'postgres://a:p@db/n',
      NIGHTSHIFT_API_LOGIN: 'a',
      NIGHTSHIFT_WORKER_LOGIN: 'u',
      REDIS_URL: 'rediss://cache:6380',
      HOST: '::1',
      PORT: '0',
      LOG_LEVEL: 'debug',
      DEFAULT_SESSION_TIMEOUT: '600',
      NIGHTSHIFT_API_KEYS: ' a.b:one , c:two:run+read,d:two ',
      NIGHTSHIFT_ALLOWED_HOSTS: 'A.example, b.example',
      NIGHTSHIFT_SECRET_KEY: `${'n'.repeat(32)}, ${'o'.repeat(40)}`,
      NIGHTSHIFT_CORS_ORIGINS: 'https://app.example.com, http://localhost:5173',
      NIGHTSHIFT_TRUSTED_PROXIES: '192.0.2.1, 10.0.0.0/8,fd00::/8, ::1',
      NIGHTSHIFT_DEFAULT_MODEL: 'openai-chat/some/model',
      NIGHTSHIFT_HEARTBEAT_INTERVAL_MS: ' 50 ',
      NIGHTSHIFT_OIDC_ISSUER: 'https://login.example.com/realms/one',
      NIGHTSHIFT_OIDC_CLIENT_ID: 'nightshift',
      NIGHTSHIFT_OIDC_CLIENT_SECRET: 's'.repeat(16),
      NIGHTSHIFT_PUBLIC_URL: 'https://nightshift.example.com/',
    });
    expect(config).toMatchObject({
      databaseUrl: 'postgres://u:p@db/n',
      directDatabaseUrl: 'postgres://u:p@server/n',
      apiDatabaseUrl: 'postgres://a:p@db/n',
      logins: { api: 'a', worker: 'u' },
      redisUrl: 'rediss://cache:6380',
      host: '::1',
      port: 0,
      logLevel: 'debug',
      sessionTimeoutS: 600,
      apiKeys: [
        { key: 'a.b', tenant: 'one', scopes: ALL_SCOPES },
        { key: 'c', tenant: 'two', scopes: new Set(['run', 'read']) },
        { key: 'd', tenant: 'two', scopes: ALL_SCOPES },
      ],
      allowedHosts: ['a.example', 'b.example'],
      secretKeys: ['n'.repeat(32), 'o'.repeat(40)],
      corsOrigins: ['https://app.example.com', 'http://localhost:5173'],
      trustedProxies: ['192.0.2.1', '10.0.0.0/8', 'fd00::/8', '::1'],
      defaultModel: 'openai-chat/some/model',
      heartbeatIntervalMs: 50,
      oidc: {
        issuer: 'https://login.example.com/realms/one',
        clientId: 'nightshift',
        clientSecret: 's'.repeat(16),
        publicUrl: 'https://nightshift.example.com',
      },
    });
  });

  test.each<[Environment, string[]]>([
    [{ NIGHTSHIFT_PUBLIC_URL: 'https://a.example' }, []],
    [{ NIGHTSHIFT_OIDC_ISSUER: 'http://127.0.0.1:9' }, ['must all be set']],
    [{ NIGHTSHIFT_OIDC_CLIENT_ID: 'id', NIGHTSHIFT_PUBLIC_URL: 'http://localhost:3000' }, ['must all be set']],
    [
      {
        NIGHTSHIFT_OIDC_ISSUER: 'https://a.example',
        NIGHTSHIFT_OIDC_CLIENT_ID: 'id',
        NIGHTSHIFT_OIDC_CLIENT_SECRET: 's'.repeat(16),
      },
      ['NIGHTSHIFT_PUBLIC_URL must be set'],
    ],
    ...[
      'http://a.example',
      'https://a.example/?a',
      'https://u:p@a.example',
      `https://a.example/${'a'.repeat(300)}`,
      'https://a.example/.well-known/openid-configuration',
    ].map((issuer): [Environment, string[]] => [
      { NIGHTSHIFT_OIDC_ISSUER: issuer },
      ['NIGHTSHIFT_OIDC_ISSUER must be'],
    ]),
    ...['http://a.example', 'https://a.example/path', 'a.example', 'https://u@a.example'].map(
      (url): [Environment, string[]] => [{ NIGHTSHIFT_PUBLIC_URL: url }, ['NIGHTSHIFT_PUBLIC_URL must be']],
    ),
    [{ NIGHTSHIFT_OIDC_CLIENT_SECRET: 'short' }, ['NIGHTSHIFT_OIDC_CLIENT_SECRET must have']],
  ])('of a sign-in that is set up as %j has the faults %j', (env, faults) => {
    expect(faultsOf(env)).toEqual(faults.map((fault) => expect.stringContaining(fault)));
  });

  test.each<[Environment, string]>([
    [{ ANTHROPIC_API_KEY: 'k' }, 'anthropic/claude-sonnet-5-5'],
    [{ OPENAI_API_KEY: 'k' }, 'openai/gpt-5'],
    [{ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://127.0.0.1:1' }, 'openai/gpt-5'],
    [{ OPENAI_BASE_URL: 'http://127.0.0.1:1' }, 'openai-chat/default'],
    [{ ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' }, 'simulated/default'],
    [{ ANTHROPIC_API_KEY: 'k', OPENAI_BASE_URL: 'http://127.0.0.1:1' }, 'simulated/default'],
    [{ ANTHROPIC_API_KEY: 'k', NIGHTSHIFT_DEFAULT_MODEL: 'simulated/demo' }, 'simulated/demo'],
    [{ ANTHROPIC_API_KEY: 'k', NIGHTSHIFT_DEFAULT_MODEL: 'claude-opus-5' }, 'anthropic/claude-opus-5'],
    [{ OPENAI_API_KEY: 'k', NIGHTSHIFT_DEFAULT_MODEL: 'gpt-5-mini' }, 'openai/gpt-5-mini'],
    [{ OPENAI_BASE_URL: 'http://127.0.0.1:1', NIGHTSHIFT_DEFAULT_MODEL: 'qwen' }, 'openai-chat/qwen'],
  ])('of %j runs workers without a model on %s', (env, model) => {
    expect(parseEnvironment(env).defaultModel).toBe(model);
  });

  test.each<Environment>([
    { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', NIGHTSHIFT_DEFAULT_MODEL: 'gpt-5' },
    { OPENAI_API_KEY: 'k', NIGHTSHIFT_DEFAULT_MODEL: 'opnai/gpt-5' },
    { NIGHTSHIFT_DEFAULT_MODEL: 'gpt-5' },
  ])('of %j cannot tell the provider', (env) => {
    expect(faultsOf(env)).toEqual(['NIGHTSHIFT_DEFAULT_MODEL must have the form provider/model']);
  });

  test('one fault is one line, several are one line each', () => {
    expect(new ConfigError(['PORT is wrong']).message).toBe('Invalid environment: PORT is wrong');
    expect(new ConfigError(['A', 'B']).message).toBe('Invalid environment:\n  A\n  B');
  });

  test('names everything that is wrong at once, and none of the values', () => {
    const wrong = {
      ANTHROPIC_BASE_URL: 'hunter2',
      OPENAI_BASE_URL: 'ftp://hunter2',
      NIGHTSHIFT_OIDC_ISSUER: 'hunter2',
      NIGHTSHIFT_OIDC_CLIENT_SECRET: 'hunter2',
      NIGHTSHIFT_PUBLIC_URL: 'hunter2',
      DATABASE_URL: 'mysql://user:hunter2@db/name',
      NIGHTSHIFT_DIRECT_DATABASE_URL: 'hunter2',
      NIGHTSHIFT_API_DATABASE_URL: 'hunter2',
      REDIS_URL: 'hunter2',
      PORT: '65536',
      LOG_LEVEL: 'hunter2',
      DEFAULT_SESSION_TIMEOUT: '0',
      NIGHTSHIFT_CONCURRENCY: '1e3',
      NIGHTSHIFT_API_KEYS: 'hunter2',
      NIGHTSHIFT_ADMIN_KEY: 'hunter2',
      NIGHTSHIFT_SECRET_KEY: 'hunter2',
      NIGHTSHIFT_CORS_ORIGINS: 'hunter2',
      NIGHTSHIFT_ALLOWED_HOSTS: 'http://hunter2',
      NIGHTSHIFT_TRUSTED_PROXIES: 'hunter2',
      NIGHTSHIFT_PREFIX: '{hunter2}',
      NIGHTSHIFT_DATABASE_POOL_SIZE: '-1',
      NIGHTSHIFT_DEFAULT_MODEL: 'hunter2',
      NIGHTSHIFT_QUEUE_LIMIT: 'many',
      NIGHTSHIFT_SWEEP_MS: '0.5',
    };
    const faults = faultsOf(wrong);
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual(Object.keys(wrong));
    expect(faults.join('\n')).not.toContain('hunter2');
  });

  test.each([
    'loopback',
    'true',
    '1',
    '10.0.0.0/33',
    '10.0.0.0/0',
    '::/0',
    '10.0.0.0/',
    '10.0.0.0/255.0.0.0',
    'fd00::/129',
  ])('accepts no "%s" as a trusted proxy', (proxies) => {
    expect(faultsOf({ NIGHTSHIFT_TRUSTED_PROXIES: proxies })).toEqual([
      expect.stringMatching(/^NIGHTSHIFT_TRUSTED_PROXIES must be a comma-separated list of addresses or networks/),
    ]);
  });

  test.each([
    '*',
    'null',
    'app.example.com',
    'https://app.example.com/',
    'https://*.example.com',
    'ftp://a.example',
    ',',
  ])('accepts no "%s" as an origin', (origins) => {
    expect(faultsOf({ NIGHTSHIFT_CORS_ORIGINS: origins })).toEqual([
      expect.stringMatching(/^NIGHTSHIFT_CORS_ORIGINS must be a comma-separated list of origins/),
    ]);
  });

  test.each([
    ['key', /entry 1 is invalid/],
    ['a:t,b', /entry 2 is invalid/],
    ['a:', /entry 1 is invalid/],
    [':t', /entry 1 is invalid/],
    ['a b:t', /entry 1 is invalid/],
    ['a:t:raed', /entry 1 is invalid/],
    ['a:t:run+', /entry 1 is invalid/],
    ['a:b:c:run', /entry 1 is invalid/],
    ['a:t,b:u,a:v', /twice, in entries 1 and 3/],
    [',', /contains no key/],
  ])('refuses the keys "%s" without showing them', (keys, expected) => {
    expect(faultsOf({ NIGHTSHIFT_API_KEYS: keys })).toEqual([expect.stringMatching(expected)]);
  });

  test('refuses an admin key that is also the key of a tenant', () => {
    const key = 'sixteen-letters-';
    expect(faultsOf({ NIGHTSHIFT_API_KEYS: `${key}:acme`, NIGHTSHIFT_ADMIN_KEY: key })).toEqual([
      'NIGHTSHIFT_ADMIN_KEY must not be one of NIGHTSHIFT_API_KEYS',
    ]);
  });

  test('needs DATABASE_URL for a direct one: without it, `start` has a server of its own', () => {
    expect(faultsOf({ NIGHTSHIFT_DIRECT_DATABASE_URL: 'postgres://u:p@server/n' })).toEqual([
      'NIGHTSHIFT_DIRECT_DATABASE_URL is only used with DATABASE_URL: set both, to the same database',
    ]);
  });

  test('keeps heartbeats, missed heartbeats and leases in their order', () => {
    expect(faultsOf({ NIGHTSHIFT_HEARTBEAT_INTERVAL_MS: '1000' })).toEqual([
      expect.stringMatching(/^NIGHTSHIFT_HEARTBEAT_TIMEOUT_MS/),
    ]);
    expect(faultsOf({ NIGHTSHIFT_LEASE_MS: '900' })).toEqual([expect.stringMatching(/^NIGHTSHIFT_LEASE_MS/)]);
  });
});
