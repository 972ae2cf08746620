// `nightshift outbox`: an outbox in the database of a service, as its operator makes, reads and removes it.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type postgres from 'postgres';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MAIN } from './command-line.ts';
import { connected } from '../services/connected.ts';
import { createFreshDatabase } from '../services/database.ts';
import { createServiceDatabase, type ServiceDatabase } from '../services/outbox.ts';

let service: ServiceDatabase;
let at: string[];
let folder: string;
beforeEach(async () => {
  service = await createServiceDatabase();
  at = ['--database-url', service.url];
  folder = await mkdtemp(path.join(tmpdir(), 'nightshift-outbox-'));
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

type Ran = { code: number; out: string; err: string };

const run = (...args: string[]): Promise<Ran> => runWith({}, 'outbox', ...args);

function runWith(env: Record<string, string>, ...args: string[]): Promise<Ran> {
  return promisify(execFile)(process.execPath, [MAIN, ...args], { cwd: folder, env: { ...process.env, ...env } }).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      out: error.stdout,
      err: error.stderr,
    }),
  );
}

const said = (out: string): Ran => ({ code: 0, out: `${out}\n`, err: '' });
const refused = (err: string): Ran => ({ code: 1, out: '', err: `${err}\n` });
const NONE = 'The database has no outbox in this schema. Run `nightshift outbox install` first.';

const submit = (sql: postgres.ISql = service.sql) => {
  const body = JSON.stringify({ job_id: randomUUID(), context_id: randomUUID() });
  return sql`select nightshift.nightshift_submit_v1('acme', ${body})`;
};

test('installs, tells what waits, tries again and removes', async () => {
  expect(await run('status', ...at)).toEqual(said('not installed'));
  for (const action of ['retry', 'remove']) expect(await run(action, ...at)).toEqual(refused(NONE));
  expect(await run('install', ...at)).toEqual(
    said('Installed the outbox in the schema nightshift. Name it in `outboxes` of the config file.'),
  );
  expect(await run('install', ...at)).toEqual(said('The outbox in the schema nightshift is up to date.'));
  expect(await run('status', ...at)).toEqual(said('0 waiting; 0 refused'));
  await submit();
  await submit();
  expect((await run('status', ...at)).out).toMatch(/^2 waiting, the oldest since [\d.]+m?s; 0 refused\n$/);
  const error = JSON.stringify({ code: 'tenant_not_allowed', message: 'no \u001b[31m' });
  const [row] = await service.sql`update nightshift.outbox set refused_at = now(), error = ${error}::text::jsonb
    where position = 1 returning job_id`;
  expect((await run('status', ...at)).out).toMatch(
    new RegExp(`1 waiting.*; 1 refused\n {2}${row?.['job_id']}\tacme\ttenant_not_allowed\tno [^\u001b]*\n$`),
  );
  expect(await run('remove', ...at)).toEqual(
    refused(
      'The outbox has 2 rows. Wait until they are relayed, or pass --force to lose what is in it. Nothing was removed.',
    ),
  );
  expect(await run('retry', ...at)).toEqual(said('1 refused row waits again.'));
  expect(await run('retry', ...at)).toEqual(said('No refused rows.'));
  expect(await run('remove', ...at, '--force')).toEqual(said('Removed the outbox with 2 rows.'));
  expect(await service.sql`select 1 from pg_namespace where nspname = 'nightshift'`).toEqual([]);
});

test('prints SQL that can be run more than once, instead of the installation', async () => {
  const role = `web_${randomUUID().slice(0, 8)}`;
  const { code, out } = await run('install', '--dry-run', '--schema', 'jobs', '--grant', role, '--relay', role);
  expect(code).toBe(0);
  await service.sql.unsafe(`create role ${role}`);
  for (const _ of ['first', 'again']) await connected(service.url, (sql) => sql.unsafe(out));
  expect(await run('status', ...at, '--schema', 'jobs')).toEqual(said('0 waiting; 0 refused'));
  await service.sql.unsafe(`create table jobs.other ()`);
  expect(await run('remove', ...at, '--schema', 'jobs')).toEqual(said('Removed the outbox.'));
  expect(await service.sql`select 1 from pg_namespace where nspname = 'jobs'`).toHaveLength(1);
  await service.sql.unsafe(`drop owned by ${role}; drop role ${role}`);
});

test('the database of Nightshift, a table of the service, and a newer outbox stay as they are', async () => {
  const own = await createFreshDatabase();
  const occupied =
    'The schema nightshift has other tables named outbox or contexts. Use another schema (--schema). If it is the database of Nightshift itself, it needs no outbox.';
  expect(await run('install', '--database-url', own.url)).toEqual(refused(occupied));
  await own.drop();
  await service.sql.unsafe('create schema nightshift; create table nightshift.outbox ()');
  expect(await run('install', ...at)).toEqual(refused(occupied));
  await service.sql.unsafe('drop schema nightshift cascade');
  await service.install();
  await service.sql`update nightshift.outbox_about set version = 2`;
  expect(await run('install', ...at)).toEqual(
    refused('A newer version of Nightshift has made the outbox. Use that version.'),
  );
  expect(await run('status', ...at)).toEqual(said('version 2, which this version cannot read'));
  for (const args of [['retry'], ['remove'], ['remove', '--force']])
    expect(await run(...args, ...at)).toEqual(
      refused('A newer version of Nightshift has made the outbox. Use that version.'),
    );
  expect(await service.sql`select 1 from nightshift.outbox_about`).toHaveLength(1);
});

test('an outbox that transactions of the service have locked is not waited for long', async () => {
  await service.install();
  await service.sql.begin(async (tx) => {
    await submit(tx);
    expect(await run('remove', ...at, '--force')).toEqual(
      refused('Transactions of the service have it locked. Try again.'),
    );
  });
  expect(await run('status', ...at)).toMatchObject({ out: expect.stringMatching(/^1 waiting/) });
});

test('a login without rights is told so', async () => {
  await service.install();
  const role = `web_${randomUUID().slice(0, 8)}`;
  await service.sql.unsafe(`create role ${role} login password 'of-tests'`);
  const url = Object.assign(new URL(service.url), { username: role, password: 'of-tests' }).href;
  expect(await run('status', '--database-url', url)).toEqual(
    said('the login may not read it. `nightshift outbox install … --relay <login>` lets it relay'),
  );
  await service.sql.unsafe(`grant usage on schema nightshift to ${role}`);
  expect(await run('remove', '--database-url', url)).toEqual(
    refused('The login may not read the outbox. Use the login that owns it.'),
  );
  await service.sql.unsafe(`grant select on all tables in schema nightshift to ${role}`);
  expect(await run('status', '--database-url', url)).toEqual(said('0 waiting; 0 refused'));
  expect(await run('remove', '--database-url', url)).toEqual(
    refused('PostgreSQL refused: permission denied for table outbox. Use the login that owns the outbox.'),
  );
  await service.sql.unsafe(`drop owned by ${role}; drop role ${role}`);
});

test('a role that PostgreSQL does not have, and a database that does not answer', async () => {
  expect(await run('install', ...at, '--grant', 'no_such_role')).toEqual(
    refused('PostgreSQL has no role of one of the given names. Create it first, then install again.'),
  );
  expect(await run('status', ...at)).toEqual(said('not installed'));
  expect(await run('status', '--database-url', 'postgres://x:hidden@127.0.0.1:1/z')).toEqual(
    refused('The database does not answer (ECONNREFUSED). Check its URL.'),
  );
});

test('without a URL, the status of all outboxes of the config file', async () => {
  expect(await run('status')).toEqual(
    refused('The config file has no outboxes. Set NIGHTSHIFT_OUTBOX_URL, or pass --database-url.'),
  );
  const outboxes = {
    shop: { url: service.url, tenants: ['acme'] },
    away: { url: 'postgres://x:hidden@127.0.0.1:1/z', tenants: ['acme'] },
  };
  await writeFile(path.join(folder, 'nightshift.config.mjs'), `export default ${JSON.stringify({ outboxes })}`);
  await service.install();
  expect(await run('status')).toEqual({
    code: 1,
    out: 'shop: 0 waiting; 0 refused\n',
    err: 'away: The database does not answer (ECONNREFUSED). Check its URL.\n',
  });
});

test('the URL may come from the environment, where other users of the machine do not see it', async () => {
  const env = { NIGHTSHIFT_OUTBOX_URL: service.url };
  expect(await runWith(env, 'outbox', 'install')).toMatchObject({ code: 0 });
  expect(await runWith(env, 'outbox', 'status')).toEqual(said('0 waiting; 0 refused'));
  expect(await runWith(env, 'outbox', 'status', '--schema', 'other')).toEqual(said('not installed'));
  expect(await runWith({ NIGHTSHIFT_OUTBOX_URL: 'postgres://127.0.0.1:1/z' }, 'outbox', 'status', ...at)).toEqual(
    said('0 waiting; 0 refused'),
  );
  expect((await runWith(env, 'outbox', 'install', '--dry-run')).out).toMatch(/^begin;/);
  expect(await runWith({ NIGHTSHIFT_OUTBOX_URL: 'mysql://x:hidden@h/z' }, 'outbox', 'retry')).toEqual({
    code: 2,
    out: '',
    err: 'NIGHTSHIFT_OUTBOX_URL must be the URL of a PostgreSQL database, such as postgres://host/database.\n',
  });
});

test.each([['install'], ['retry'], ['remove'], ['status', '--schema', 'jobs']])(
  '%s without a URL tells how to give one',
  async (...args) => {
    const err = 'Which database? Set NIGHTSHIFT_OUTBOX_URL to its URL, or pass --database-url.\n';
    expect(await run(...args)).toEqual({ code: 2, out: '', err });
  },
);

test('migrate leaves a schema that has an outbox as it is, and says what to set', async () => {
  await service.install();
  const env = { DATABASE_URL: service.url };
  const reason =
    'The schema has the outbox of a service, from which jobs are relayed to the database of Nightshift, which is another one.';
  const advice =
    'Set DATABASE_URL to that database, or NIGHTSHIFT_DATABASE_SCHEMA to another schema. `nightshift outbox remove` removes an outbox that is not used any more.';
  expect(await runWith(env, 'migrate')).toEqual(refused(`${reason} ${advice}`));
  expect(await runWith(env, 'migrate', '--dry-run')).toEqual({ code: 1, out: `${reason} ${advice}\n`, err: '' });
  const tables = await service.sql`select tablename from pg_tables where schemaname = 'nightshift' order by 1`;
  expect(tables.map(({ tablename }) => tablename)).toEqual(['outbox', 'outbox_about']);
  expect((await runWith(env, 'doctor')).out).toContain(`migrations      ${reason}`);
  expect(await runWith({ ...env, NIGHTSHIFT_DATABASE_SCHEMA: 'beside' }, 'migrate')).toMatchObject({ code: 0 });
});

test('a config file with a tool package needs no secret here', async () => {
  await service.install();
  const file = `import { defineToolPackage } from 'nightshift';
    const weather = defineToolPackage({ name: 'weather', secrets: ['WEATHER_API_KEY'], tools: () => [] });
    const outboxes = ${JSON.stringify({ shop: { url: service.url, tenants: ['acme'] } })};
    export default { tools: [weather()], outboxes };`;
  await writeFile(path.join(folder, 'nightshift.config.mjs'), file);
  expect(await run('status')).toEqual(said('shop: 0 waiting; 0 refused'));
});

test.each([
  [[]],
  [['take']],
  [['status', '--force']],
  [['remove', '--database-url', 'x', '--grant', 'y']],
  [['install', '--dry-run', '--database-url', 'x']],
])('wrong arguments %j print the usage', async (args) => {
  const { code, out, err } = await run(...args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(/^Usage: nightshift outbox install \[--database-url <url>\]/);
});

test('a URL and a schema that are not valid', async () => {
  const url = await run('status', '--database-url', 'mysql://x:hidden@h/z');
  expect(url).toEqual({
    code: 2,
    out: '',
    err: '--database-url must be the URL of a PostgreSQL database, such as postgres://host/database.\n',
  });
  const { code, err } = await run('status', ...at, '--schema', 'public');
  expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/^--schema must be a PostgreSQL schema other/) });
});

test('doctor reads each outbox of the config file', async () => {
  const outboxes = { shop: { url: service.url, tenants: ['acme'] } };
  await writeFile(path.join(folder, 'nightshift.config.mjs'), `export default ${JSON.stringify({ outboxes })}`);
  const doctor = () =>
    promisify(execFile)(process.execPath, [MAIN, 'doctor'], { cwd: folder }).then(
      ({ stdout }) => stdout,
      ({ stdout }: { stdout: string }) => stdout,
    );
  expect(await doctor()).toMatch(/outbox shop\s+no outbox in the schema nightshift/);
  await service.install();
  expect(await doctor()).toMatch(/outbox shop\s+0 rows wait/);
  await connected(service.url, async (sql) => {
    await sql`select nightshift.nightshift_submit_v1('acme', ${JSON.stringify({ job_id: randomUUID(), context_id: randomUUID() })})`;
    await sql`update nightshift.outbox set created_at = now() - interval '1 hour'`;
  });
  expect(await doctor()).toMatch(/outbox shop\s+1 row waits, the oldest since 1h/);
  const role = `relay_${randomUUID().slice(0, 8)}`;
  await service.sql.unsafe(`create role ${role} login password 'of-tests'; grant usage on schema nightshift to ${role};
    grant select on nightshift.outbox, nightshift.outbox_about to ${role}`);
  const url = Object.assign(new URL(service.url), { username: role, password: 'of-tests' }).href;
  const limited = { outboxes: { shop: { url, tenants: ['acme'] } } };
  await writeFile(path.join(folder, 'nightshift.config.mjs'), `export default ${JSON.stringify(limited)}`);
  expect(await doctor()).toMatch(/fail\s+outbox shop\s+the login may not relay the outbox in the schema nightshift/);
  await service.sql.unsafe(`drop owned by ${role}; drop role ${role}`);
});
