// Migrations by several processes at once, repeated, and on a server that is too old.
import { readFile, readdir } from 'node:fs/promises';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../../src/db/connection/client.ts';
import { migrate } from '../../../src/db/setup/migrate.ts';
import { OLDEST_VERSION, isOlder } from '../../../src/db/setup/migrations-table.ts';
import { schemaState } from '../../../src/db/setup/schema-state.ts';
import { VERSION } from '../../../src/package-files.ts';
import { rowsOf } from '../../services/connected.ts';
import { createEmptyDatabase } from '../../services/database.ts';
import { startStatementNetwork, type Rewrite } from '../connection/statement-network.ts';

const MIGRATIONS = new URL('../../../src/db/migrations/', import.meta.url);

const name = `nightshift_test_migrate_${Date.now()}`;
const url = () => Object.assign(new URL(inject('databaseUrl')), { pathname: `/${name}` }).href;

async function otherDatabase(): Promise<string> {
  const own = await createEmptyDatabase();
  onTestFinished(() => own.drop());
  return own.url;
}

beforeAll(() => rowsOf(inject('databaseUrl'), `create database ${name}`));
afterAll(() => rowsOf(inject('databaseUrl'), `drop database if exists ${name} with (force)`));

test('an older server is refused before anything is changed', async () => {
  const older: Rewrite = (text) =>
    text
      .replace("current_setting('server_version_num')", "'140009'")
      .replace("current_setting('server_version')", "'14.9'");
  const network = await startStatementNetwork(url(), older);
  onTestFinished(() => network.close());
  await expect(migrate(network.url)).rejects.toThrow(
    'Nightshift needs PostgreSQL 15 or newer. This server is PostgreSQL 14.9.',
  );
  expect(await rowsOf(url(), `select 1 from pg_tables where schemaname in ('public', 'nightshift')`)).toEqual([]);
});

test('many processes at once migrate once, and a later one has nothing to do', async () => {
  await Promise.all(Array.from({ length: 6 }, () => migrate(url())));
  const applied = () => rowsOf(url(), 'select id, hash, created_at from nightshift.migrations order by id');
  const first = await applied();
  expect(first.length).toBeGreaterThan(0);
  expect(new Set(first.map(({ hash }) => hash)).size).toBe(first.length);
  await migrate(url());
  expect(await applied()).toEqual(first);
});

test('a database of another build is refused and not changed', async () => {
  const own = await otherDatabase();
  await migrate(own);
  await rowsOf(own, `update nightshift.migrations set hash = 'of another build' where id = 1`);
  await expect(migrate(own)).rejects.toThrow(/created by another build of Nightshift.*nightshift export/);
  expect(await rowsOf(own, 'select hash from nightshift.migrations')).toEqual([{ hash: 'of another build' }]);
});

test('a build that kept its tables in public is recognised, and an application’s own drizzle journal is not taken for it', async () => {
  const own = await otherDatabase();
  await rowsOf(
    own,
    `create schema drizzle;
     create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint);
     insert into drizzle.__drizzle_migrations (hash, created_at)
       values ('89bfb9316c64e6dbd7db0c26cdf1235709e99715a1f50955c800dd0ae1bd1433', 1)`,
  );
  await expect(migrate(own)).rejects.toThrow(/created by another build of Nightshift/);
  expect(await rowsOf(own, `select 1 from pg_namespace where nspname = 'nightshift'`)).toEqual([]);
  await rowsOf(own, `update drizzle.__drizzle_migrations set hash = 'of an application'`);
  await migrate(own);
  expect(await rowsOf(own, 'select hash from drizzle.__drizzle_migrations')).toEqual([{ hash: 'of an application' }]);
});

test('a database with migrations of a newer version is not changed', async () => {
  const own = await otherDatabase();
  await migrate(own);
  await rowsOf(own, `insert into nightshift.migrations (hash, created_at) values ('of a newer version', 9e15)`);
  await migrate(own);
  expect(await rowsOf(own, 'select count(*)::int from nightshift.migrations')).toEqual([{ count: 2 }]);
});

test('a database of the next minor version is fit for this one, and one of a later version is refused and not changed', async () => {
  const own = await otherDatabase();
  await migrate(own);
  const comment = async () =>
    (await rowsOf(own, `select obj_description('nightshift.migrations'::regclass) as text`))[0]?.['text'];
  expect(await comment()).toBe(`Processes need Nightshift ${OLDEST_VERSION}`);
  const database = openDatabase(own, { max: 1 });
  onTestFinished(() => database.close());
  const state = () => schemaState((statement) => database.db.execute(statement));

  await rowsOf(own, `comment on table nightshift.migrations is 'Processes need Nightshift ${VERSION}'`);
  expect(await state()).toEqual({ kind: 'current' });
  await rowsOf(own, `comment on table nightshift.migrations is 'Processes need Nightshift 99.1.0'`);
  expect(await state()).toEqual({ kind: 'ahead', oldest: '99.1.0' });
  await expect(migrate(own)).rejects.toMatchObject({
    name: 'DatabaseRefused',
    message: `The database was migrated by a newer version of Nightshift. Processes need version 99.1.0 or newer; this is ${VERSION}. Upgrade this process.`,
  });
  expect(await comment()).toBe('Processes need Nightshift 99.1.0');
  // A comment of someone else says nothing.
  await rowsOf(own, `comment on table nightshift.migrations is 'ours'`);
  expect(await state()).toEqual({ kind: 'current' });
});

test('an older minor version is one before, whatever its patch is', () => {
  expect(isOlder('0.9.7', '0.10.0')).toBe(true);
  expect(isOlder('0.10.0', '0.9.7')).toBe(false);
  expect(isOlder('0.10.3', '0.10.9')).toBe(false);
  expect(isOlder('0.10.0-beta.1', '0.10.0')).toBe(false);
  expect(isOlder('0.99.0', '1.0.0')).toBe(true);
  expect(isOlder('1.0.0', '0.99.0')).toBe(false);
});

test('an installation can share an application’s database with another installation, and touches no other schema', async () => {
  const own = await otherDatabase();
  await rowsOf(own, `create table public.jobs (id text); insert into public.jobs values ('of the application')`);
  await Promise.all([migrate(own), migrate(own, 'second')]);
  const ones = openDatabase(own, { max: 1 });
  const others = openDatabase(own, { max: 1, schema: 'second' });
  onTestFinished(async () => void (await Promise.all([ones.close(), others.close()])));
  await ones.db.execute(sql`insert into contexts (id, tenant_id) values (gen_random_uuid(), 1)`);
  const count = sql`select (select count(*)::int from contexts) as contexts, (select count(*)::int from jobs) as jobs`;
  expect([...(await ones.db.execute(count))]).toEqual([{ contexts: 1, jobs: 0 }]);
  expect([...(await others.db.execute(count))]).toEqual([{ contexts: 0, jobs: 0 }]);
  expect(await rowsOf(own, 'select id from public.jobs')).toEqual([{ id: 'of the application' }]);
  expect(
    await rowsOf(own, `select tablename from pg_tables where schemaname in ('public', 'drizzle') order by 1`),
  ).toEqual([{ tablename: 'jobs' }]);
});

test('no migration names a PostgreSQL schema', async () => {
  for (const name of await readdir(MIGRATIONS)) {
    if (name.endsWith('.sql'))
      expect(await readFile(new URL(name, MIGRATIONS), 'utf8')).not.toMatch(/"public"\.|"nightshift"\./);
  }
});

test('the lock is released', async () => {
  expect(
    await rowsOf(
      url(),
      `select 1 from pg_locks where locktype = 'advisory' and objid = 7227001
      and database = (select oid from pg_database where datname = current_database())`,
    ),
  ).toEqual([]);
});

test('hot tables leave room on their pages, and columns that change at every append have no index', async () => {
  const options = await rowsOf(
    url(),
    `select relname, reloptions from pg_class where relname in ('contexts', 'jobs', 'processes') and relkind = 'r'`,
  );
  for (const { reloptions } of options) expect(String(reloptions)).toMatch(/fillfactor/);
  const indexed = await rowsOf(
    url(),
    `select distinct a.attname from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
     where i.indrelid = 'nightshift.contexts'::regclass order by 1`,
  );
  expect(options).toHaveLength(3);
  expect(indexed.map(({ attname }) => attname)).toEqual([
    'id',
    'lease_owner',
    'next_check_at',
    'priority',
    'tenant_id',
    'user_name',
  ]);
});
