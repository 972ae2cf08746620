// Databases for test files: copies of a template that is made once.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Database } from '../../src/db/connection/client.ts';
import { rowsOf } from './connected.ts';
import { createDatabaseFrom, createFreshDatabase, createTestDatabase } from './database.ts';
import { DatabasePool } from './database-pool.ts';
import { removeFolder, temporaryFolder } from './temporary-folder.ts';

let folder = '';

beforeAll(async () => {
  folder = await temporaryFolder();
});

afterAll(() => removeFolder(folder));

test('many files at once migrate once, and each gets a copy of its own', async () => {
  const migrations = path.join(folder, 'migrations');
  await mkdir(migrations);
  await writeFile(path.join(migrations, '0000.sql'), `-- ${inject('testRun')} ${Math.random()}`);
  let migrated = 0;
  const source = {
    adminUrl: inject('databaseUrl'),
    run: inject('testRun'),
    migrations,
    async migrate(url: string) {
      migrated += 1;
      await rowsOf(url, 'CREATE TABLE things (name text)');
    },
  };
  const all = await Promise.all(Array.from({ length: 6 }, () => createDatabaseFrom(source)));
  expect(migrated).toBe(1);
  const [first, second] = all;
  if (first === undefined || second === undefined) throw new Error('six were made');
  await rowsOf(first.url, `INSERT INTO things VALUES ('mine')`);
  expect(await rowsOf(second.url, 'SELECT * FROM things')).toEqual([]);
  for (const database of all) await database.drop();
  await expect(rowsOf(first.url, 'SELECT 1')).rejects.toThrow(/does not exist/);
  expect(new Set(all.map(({ template }) => template))).toEqual(new Set([first.template]));
  await rowsOf(inject('databaseUrl'), `DROP DATABASE ${first.template} WITH (FORCE)`);
});

test('the next user of a database goes on with its connections, unless they have unfinished work', async () => {
  const pidOf = async ({ db }: Database): Promise<unknown> =>
    (await db.execute(sql`select pg_backend_pid() as pid`))[0];
  // Of its own: autovacuum does not look at a database that no test has filled.
  const pool = new DatabasePool(() => createFreshDatabase());
  const first = await pool.lend();
  const [one, two] = [first.open({ name: 'one' }), first.open({ name: 'two' })];
  const [pid, unfinished] = [await pidOf(one), await pidOf(two)];
  void two.transaction(() => new Promise(() => undefined)).catch(() => undefined);
  await one.close();
  await expect(pidOf(one)).rejects.toThrow();
  await first.drop();
  const second = await pool.lend();
  expect(second.url).toBe(first.url);
  expect(await pidOf(second.open({ name: 'one' }))).toEqual(pid);
  expect(await pidOf(second.open({ name: 'two' }))).not.toEqual(unfinished);
  await second.drop();
});

test('the platform’s own schema is there', async () => {
  const database = await createTestDatabase();
  const tables = await rowsOf(database.url, `SELECT 1 FROM pg_tables WHERE tablename = 'contexts'`);
  expect(tables).toHaveLength(1);
  await database.drop();
});
