// `nightshift doctor` in working and broken environments: its findings, its advice, and that it prints no secret.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { startFakeProvider } from '../llm/fake-provider.ts';
import { createEmptyDatabase, createTestDatabase } from '../services/database.ts';
import { openShop } from '../workers/run/transacting.ts';
import { KEY, openPlatform, runProcess, type Platform } from './command-line.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
});
afterAll(() => platform.close());

type Finding = { name: string; status: string; detail: string; advice: string | null };

async function examine(env: Record<string, string>, ...args: string[]) {
  const { code, out } = await runProcess(['doctor', '--json', ...args], env, { cwd: platform.folder });
  const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: Finding[] };
  return { code, ok, out, of: (name: string) => checks.find((check) => check.name === name) };
}

test('finds no problem in a working environment', async () => {
  const redisUrl = inject('redisUrl');
  const env = {
    ...platform.env,
    DATABASE_URL: platform.databaseUrl,
    OPENAI_API_KEY: 'sk-a-secret',
    ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
  };
  const { code, ok, out, of } = await examine(env);
  expect({ code, ok }).toEqual({ code: 0, ok: true });
  expect(of('postgres')).toMatchObject({ status: 'ok' });
  expect(of('migrations')).toMatchObject({ status: 'ok', detail: 'up to date' });
  expect(of('redis')).toMatchObject({ status: 'ok' });
  expect(of('providers')).toMatchObject({ status: 'ok', detail: 'set: OPENAI_API_KEY' });
  expect(of('api access')).toMatchObject({ status: 'ok' });
  for (const secret of ['sk-a-secret', KEY]) expect(out).not.toContain(secret);
  const read = await runProcess(['doctor'], env, { cwd: platform.folder });
  expect(read.code).toBe(0);
  expect(read.out).toMatch(/^ok {4}node {12}\d+/);
});

test('checks the login of API processes too, alone or beside that of the workers', async () => {
  const own = { NIGHTSHIFT_API_DATABASE_URL: 'postgres://user:db-secret@127.0.0.1:1/none' };
  const alone = await examine({ ...platform.env, ...own });
  const wrong = { status: 'fail', advice: expect.stringContaining('NIGHTSHIFT_API_DATABASE_URL') };
  expect(alone.of('postgres')).toMatchObject(wrong);
  const { out, of } = await examine({ ...platform.env, ...own, DATABASE_URL: platform.databaseUrl });
  expect(of('postgres')).toMatchObject({ status: 'ok' });
  expect(of('api postgres')).toMatchObject(wrong);
  expect(out).not.toContain('db-secret');
  const same = { NIGHTSHIFT_API_DATABASE_URL: platform.databaseUrl, DATABASE_URL: platform.databaseUrl };
  const unlimited = await examine({ ...platform.env, ...same });
  expect(unlimited.of('api postgres')).toMatchObject({ status: 'ok' });
  expect(unlimited.of('api row security')).toMatchObject({
    status: 'fail',
    detail: expect.stringContaining('it is a superuser'),
    advice: expect.stringContaining('NIGHTSHIFT_API_LOGIN'),
  });
});

test('reports missing services, and what to do', async () => {
  const env = {
    NIGHTSHIFT_URL: 'http://127.0.0.1:1',
    DATABASE_URL: 'postgres://user:db-secret@127.0.0.1:1/none',
    REDIS_URL: 'redis://:redis-secret@127.0.0.1:1',
  };
  const { code, ok, out, of } = await examine(env);
  expect({ code, ok }).toEqual({ code: 1, ok: false });
  expect(of('postgres')).toMatchObject({ status: 'fail', advice: expect.stringContaining('DATABASE_URL') });
  expect(of('redis')).toMatchObject({ status: 'fail', advice: expect.stringContaining('REDIS_URL') });
  expect(of('api')).toMatchObject({ status: 'fail', advice: expect.stringContaining('nightshift start') });
  expect(of('providers')).toMatchObject({ status: 'warn' });
  expect(out).not.toContain('secret');
});

test('reports that the API does not accept the key', async () => {
  const { code, of } = await examine({ ...platform.env, NIGHTSHIFT_API_KEY: 'wrong-key' });
  expect(code).toBe(1);
  expect(of('api access')).toMatchObject({
    status: 'fail',
    advice: expect.stringContaining('NIGHTSHIFT_API_KEY'),
  });
});

test('finds errors in the environment and the config file', async () => {
  const environment = await examine({ ...platform.env, PORT: 'many', LOG_LEVEL: 'loud' });
  expect(environment.code).toBe(1);
  expect(environment.of('environment')).toMatchObject({
    status: 'fail',
    detail: expect.stringContaining('PORT'),
  });
  const file = path.join(platform.folder, 'broken.config.mjs');
  await writeFile(file, 'export default { tools: 7 };');
  const configFile = await examine({ ...platform.env, NIGHTSHIFT_CONFIG: file });
  expect(configFile.code).toBe(1);
  expect(configFile.of('config file')).toMatchObject({
    status: 'fail',
    detail: expect.stringContaining('tools'),
  });
});

test('names migrations that were not applied', async () => {
  const sql = postgres(platform.databaseUrl, { max: 1 });
  const [last] = await sql`
    delete from nightshift.migrations
    where id = (select max(id) from nightshift.migrations) returning *`;
  try {
    const { code, of } = await examine({ ...platform.env, DATABASE_URL: platform.databaseUrl });
    expect(code).toBe(1);
    expect(of('migrations')).toMatchObject({
      status: 'fail',
      advice: expect.stringContaining('`nightshift migrate`'),
    });
  } finally {
    await sql`insert into nightshift.migrations ${sql(last ?? {})}`;
    await sql.end();
  }
});

test('reports that commands without a sandbox would read the keys', async () => {
  const file = path.join(platform.folder, 'plain.config.mjs');
  const write = (tenants: string) =>
    writeFile(file, `export default { limits: { run_command: { runner: 'process', ${tenants} } } };`);
  const env = { ...platform.env, NIGHTSHIFT_CONFIG: file };
  await write('');
  expect((await examine(env)).of('config file')).toMatchObject({ status: 'ok' });
  for (const keys of [
    { DATABASE_URL: platform.databaseUrl },
    { ANTHROPIC_API_KEY: 'sk' },
    { NIGHTSHIFT_API_KEYS: 'a-key-of-acme-0123456789:acme' },
  ]) {
    expect((await examine({ ...env, ...keys })).of('config file')).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('limits.run_command.tenants'),
    });
  }
  await write("tenants: ['acme']");
  expect((await examine({ ...env, ANTHROPIC_API_KEY: 'sk' })).of('config file')).toMatchObject({
    status: 'ok',
  });
});

test('names the secrets of tool packages that are missing, and shows none', async () => {
  const file = path.join(platform.folder, 'package.config.mjs');
  await writeFile(
    file,
    `import { defineToolPackage } from 'nightshift';
     const weather = defineToolPackage({ name: 'weather', secrets: ['WEATHER_API_KEY'], tools: () => [] });
     export default { tools: [weather()] };`,
  );
  const env = { ...platform.env, NIGHTSHIFT_CONFIG: file };
  const missing = 'secrets.WEATHER_API_KEY: is missing. Set the environment variable WEATHER_API_KEY';
  expect((await examine(env)).of('config file')).toMatchObject({
    status: 'fail',
    detail: expect.stringContaining(missing),
  });
  const given = await examine({ ...env, WEATHER_API_KEY: 'key-of-the-weather' });
  expect(given.of('config file')).toMatchObject({ status: 'ok' });
  expect(given.out).not.toContain('key-of-the-weather');
});

test('counts what the config file has', async () => {
  const file = path.join(platform.folder, 'one-role.config.mjs');
  await writeFile(file, "export default { roles: { support: { system_prompt: 'x' } } };");
  const { of } = await examine({ ...platform.env, NIGHTSHIFT_CONFIG: file });
  expect(of('config file')).toMatchObject({ status: 'ok', detail: `${file}: 0 tools, 1 role, 0 MCP servers` });
});

test('checks the login of transactional tools, as a worker process does', async () => {
  const shop = await openShop({ grants: false });
  onTestFinished(() => shop.drop());
  const file = path.join(platform.folder, 'transactional.config.mjs');
  await writeFile(
    file,
    `const book = { name: 'book', description: 'd', input_schema: { type: 'object' }, transactional: true };
     export default { tools: [{ ...book, execute: () => 'x' }] };`,
  );
  const login = async (env: Record<string, string>) => {
    const { out, of } = await examine({ ...platform.env, NIGHTSHIFT_CONFIG: file, ...env });
    expect(out).not.toContain('db-secret');
    return of('tools login');
  };
  const both = (url: string, own = shop.url) => ({ DATABASE_URL: own, NIGHTSHIFT_TOOLS_DATABASE_URL: url });
  expect(await login({ DATABASE_URL: shop.url })).toMatchObject({
    status: 'fail',
    detail: 'NIGHTSHIFT_TOOLS_DATABASE_URL is not set. The tool book is transactional',
  });
  expect(await login({ NIGHTSHIFT_TOOLS_DATABASE_URL: shop.toolUrl })).toMatchObject({
    status: 'warn',
    detail: 'not checked: DATABASE_URL is not set',
  });
  expect(await login(both('postgres://x:db-secret@127.0.0.1:1/z'))).toMatchObject({
    status: 'fail',
    detail: 'PostgreSQL does not answer at NIGHTSHIFT_TOOLS_DATABASE_URL (ECONNREFUSED).',
  });
  expect(await login(both(shop.toolUrl, platform.databaseUrl))).toMatchObject({
    status: 'fail',
    detail: 'NIGHTSHIFT_TOOLS_DATABASE_URL leads to another database than DATABASE_URL.',
  });
  expect(await login(both(shop.toolUrl, 'postgres://x:db-secret@127.0.0.1:1/z'))).toMatchObject({
    status: 'fail',
    detail: expect.stringMatching(/^not checked: .*ECONNREFUSED/),
  });
  expect(await login(both(shop.toolUrl))).toMatchObject({
    status: 'fail',
    detail: `The login “${shop.role}” of NIGHTSHIFT_TOOLS_DATABASE_URL may not settle calls of any tenant.`,
    advice: `Run: nightshift submissions grant --role ${shop.role} --tenant <tenant>`,
  });
  await shop.grant();
  expect(await login(both(shop.toolUrl))).toMatchObject({ status: 'ok' });
  expect((await examine({ ...platform.env, ...both(shop.toolUrl) })).of('tools login')).toBeUndefined();
});

test('reports whether run_command can run a command, with the configured runner', async () => {
  const bin = path.join(platform.folder, 'bin');
  await mkdir(bin);
  const program = (name: string, exit: number) =>
    writeFile(path.join(bin, name), `#!/bin/sh\nexit ${exit}\n`, { mode: 0o755 });
  const file = path.join(platform.folder, 'runner.config.mjs');
  const found = async (runner: string): Promise<Finding | undefined> => {
    await writeFile(file, `export default { limits: { run_command: { runner: '${runner}' } } };`);
    const env = { ...platform.env, PATH: bin, NIGHTSHIFT_CONFIG: file };
    const { ok, of } = await examine(env);
    expect(ok).toBe(true);
    return of('run_command');
  };
  const runners = [
    { runner: 'container', name: 'docker', failed: 'Docker does not respond' },
    { runner: 'bubblewrap', name: 'bwrap', failed: '`bwrap` is not permitted to create namespaces' },
  ];
  for (const { runner, name, failed } of runners) {
    const unusable = `unavailable with runner ${runner}: `;
    expect(await found(runner)).toMatchObject({
      status: 'warn',
      detail: `${unusable}\`${name}\` is not in the PATH`,
      advice: expect.stringContaining('run_command'),
    });
    await program(name, 1);
    expect(await found(runner)).toMatchObject({ status: 'warn', detail: `${unusable}${failed}` });
    await program(name, 0);
    expect(await found(runner)).toMatchObject({ status: 'ok' });
  }
  expect(await found('process')).toMatchObject({
    status: 'ok',
    detail: 'commands run as plain processes, without a sandbox',
  });
});

test('--call calls a model of each provider with a key, and only then', async () => {
  const fake = await startFakeProvider();
  try {
    const env = { ...platform.env, OPENAI_API_KEY: 'sk-a-secret', OPENAI_BASE_URL: fake.openaiURL };
    expect((await examine(env)).of('model call')).toBeUndefined();
    expect(fake.requests).toHaveLength(0);
    const called = await examine(env, '--call');
    expect(called.of('model call')).toMatchObject({
      status: 'ok',
      detail: expect.stringMatching(/^openai\/gpt-5 answered/),
    });
    expect(fake.requests).toHaveLength(1);
    expect(fake.requests[0]?.body).toMatchObject({ model: 'gpt-5', max_output_tokens: 16 });
    const other = await examine({ ...platform.env }, '--call', 'anthropic/claude-sonnet-5-5');
    expect(other.of('model call')).toMatchObject({ status: 'fail', detail: expect.stringContaining('not configured') });
    expect((await examine(platform.env, '--call')).of('model call')).toMatchObject({ status: 'warn' });
    fake.answer({ status: 401 });
    const refused = await examine(env, '--call');
    expect(refused).toMatchObject({ code: 1, ok: false });
    expect(refused.of('model call')).toMatchObject({ status: 'fail', detail: expect.stringContaining('auth') });
    for (const { out } of [called, refused]) expect(out).not.toContain('sk-a-secret');
  } finally {
    await fake.close();
  }
});

test('migrate tells what it does; --status and --dry-run change nothing', async () => {
  const empty = await createEmptyDatabase();
  const migrate = (...args: string[]) => runProcess(['migrate', ...args], { DATABASE_URL: empty.url });
  try {
    const lacks = { code: 1, out: expect.stringMatching(/^The database lacks the migration 0000_\w+\./), err: '' };
    expect(await migrate('--status')).toEqual(lacks);
    expect(await migrate('--dry-run')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Would be applied: 0000_/),
    });
    expect(await migrate('--status')).toEqual(lacks);
    expect(await migrate()).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Applied to the schema nightshift: 0000_/),
    });
    const done = { code: 0, out: 'The database is up to date. Nothing was applied.\n', err: '' };
    for (const args of [[], ['--status'], ['--dry-run']]) expect(await migrate(...args)).toEqual(done);
    expect((await migrate('--nope')).code).toBe(2);
    expect((await migrate('--status', '--dry-run')).code).toBe(2);
  } finally {
    await empty.drop();
  }
});

test('worker-health: whether a worker process of this host is alive', async () => {
  const health = (databaseUrl: string) => runProcess(['worker-health'], { DATABASE_URL: databaseUrl });
  expect(await health(platform.databaseUrl)).toEqual({ code: 0, out: '', err: '' });
  const idle = await createTestDatabase();
  try {
    expect(await health(idle.url)).toEqual({
      code: 1,
      out: '',
      err: 'No worker process on this host has a current heartbeat.\n',
    });
  } finally {
    await idle.drop();
  }
  expect(await health('postgres://user:db-secret@127.0.0.1:1/none')).toEqual({
    code: 1,
    out: '',
    err: 'The database is unreachable or not migrated. Run `nightshift doctor` to find the problem.\n',
  });
});
