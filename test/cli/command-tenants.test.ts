// Which tenants may run commands without a sandbox: where others could be harmed, the operator names the tenants, or
// nothing starts.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { commandTenants } from '../../src/platform/command-tenants.ts';
import { parseEnvironment } from '../../src/config/config.ts';
import { RUN_COMMAND_DEFAULTS } from '../../src/tools/built-in/command/limits.ts';
import { ConfigFileError } from '../../src/tools/config/config-file.ts';
import { createTestDatabase } from '../services/database.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';
import { runProcess, start, type Env } from './command-line.ts';

const PLAIN = { ...RUN_COMMAND_DEFAULTS, runner: 'process' as const };

describe('plain processes', () => {
  test('of a single process that is the whole installation, without keys, are for its tenant', () => {
    expect(commandTenants(PLAIN, parseEnvironment({}))).toEqual(['default']);
    expect(commandTenants(PLAIN, parseEnvironment({ OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }))).toEqual(['default']);
  });

  test.each<Env>([
    { ANTHROPIC_API_KEY: 'sk' },
    { OPENAI_API_KEY: 'sk' },
    { NIGHTSHIFT_API_KEYS: 'a-key-of-acme-0123456789:acme' },
    { NIGHTSHIFT_ADMIN_KEY: 'the-key-of-the-operator' },
    { DATABASE_URL: 'postgres://db/nightshift' },
    { REDIS_URL: 'redis://redis' },
    { HOST: '0.0.0.0' },
    {
      NIGHTSHIFT_OIDC_ISSUER: 'https://login.example.com',
      NIGHTSHIFT_OIDC_CLIENT_ID: 'nightshift',
      NIGHTSHIFT_OIDC_CLIENT_SECRET: 'a secret of the client, long enough',
      NIGHTSHIFT_PUBLIC_URL: 'http://localhost:3000',
    },
  ])('with %j need the names of tenants', (env) => {
    expect(() => commandTenants(PLAIN, parseEnvironment(env))).toThrow(ConfigFileError);
    expect(commandTenants({ ...PLAIN, tenants: ['acme'] }, parseEnvironment(env))).toEqual(['acme']);
    expect(commandTenants(RUN_COMMAND_DEFAULTS, parseEnvironment(env))).toEqual([]);
  });
});

describe('a process of the platform', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let [folder, config] = ['', ''];
  beforeAll(async () => {
    database = await createTestDatabase();
    folder = await temporaryFolder();
    config = path.join(folder, 'plain.config.mjs');
  });
  afterAll(async () => {
    await database.drop();
    await removeFolder(folder);
  });

  /**
   * No key of a provider or of the API is visible: like a worker of Compose, or `start` beside a database of its own.
   */
  const env = (): Env => ({
    DATABASE_URL: database.url,
    OPENAI_BASE_URL: 'http://127.0.0.1:1/v1',
    NIGHTSHIFT_CONFIG: config,
    NIGHTSHIFT_DATA: folder,
    NIGHTSHIFT_WORKSPACES: path.join(folder, 'workspaces'),
    NIGHTSHIFT_TOUR: 'off',
    PORT: '0',
  });
  const write = (more: string) =>
    writeFile(config, `export default { limits: { run_command: { runner: 'process', ${more} } } };`);
  const refused = { code: 1, out: '', err: expect.stringContaining('limits.run_command.tenants') };

  test('does not start where no tenant is named', async () => {
    await write('');
    expect(await runProcess(['start'], env())).toMatchObject(refused);
    const redisUrl = inject('redisUrl');
    if (redisUrl === null) return;
    for (const name of ['worker', 'api'])
      expect(await runProcess([name], { ...env(), REDIS_URL: redisUrl })).toMatchObject(refused);
  });

  test('starts where a tenant is named', async () => {
    await write("tenants: ['default']");
    const child = start(['start'], env());
    await child.says('out', /is ready at/);
    child.signal('SIGTERM');
    expect((await child.done).code).toBe(0);
  });
});
