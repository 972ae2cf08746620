// Databases for test files: copies of a template that is made once.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createDatabaseFrom, createTestDatabase } from './database.ts';
import { removeFolder, temporaryFolder } from './temporary-folder.ts';

let folder = '';

beforeAll(async () => {
  folder = await temporaryFolder();
});

afterAll(() => removeFolder(folder));

async function query(url: string, text: string): Promise<unknown[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return [...(await sql.unsafe(text))];
  } finally {
    await sql.end();
  }
}

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
      await query(url, 'CREATE TABLE things (name text)');
    },
  };
  const all = await Promise.all(Array.from({ length: 6 }, () => createDatabaseFrom(source)));
  expect(migrated).toBe(1);
  const [first, second] = all;
  if (first === undefined || second === undefined) throw new Error('six were made');
  await query(first.url, `INSERT INTO things VALUES ('mine')`);
  expect(await query(second.url, 'SELECT * FROM things')).toEqual([]);
  for (const database of all) await database.drop();
  await expect(query(first.url, 'SELECT 1')).rejects.toThrow(/does not exist/);
  expect(new Set(all.map(({ template }) => template))).toEqual(new Set([first.template]));
  await query(inject('databaseUrl'), `DROP DATABASE ${first.template} WITH (FORCE)`);
});

test('the platform’s own schema is there', async () => {
  const database = await createTestDatabase();
  const tables = await query(database.url, `SELECT 1 FROM pg_tables WHERE tablename = 'contexts'`);
  expect(tables).toHaveLength(1);
  await database.drop();
});
