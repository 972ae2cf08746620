// Databases for tests, copied from a template that the migrations made once. The template's name is a hash of the
// migrations, so that it is never stale; it is made under an advisory lock and appears complete.
import { createHash, randomBytes } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import type postgres from 'postgres';
import { inject } from 'vitest';
import { migrate } from '../../src/db/setup/migrate.ts';
import { connected } from './connected.ts';
import { DatabasePool, type PooledDatabase } from './database-pool.ts';

export interface TestDatabase {
  url: string;
  drop: () => Promise<void>;
}

/** `template`: the name of the database that is copied. */
export interface Copy extends TestDatabase {
  template: string;
}

export interface TemplateSource {
  adminUrl: string;
  run: string;
  /** Folder whose files the template is made from. */
  migrations: string;
  migrate(databaseUrl: string): Promise<void>;
}

const MIGRATIONS = path.join(import.meta.dirname, '../../src/db/migrations');

/** The run's PostgreSQL, and the run, after which its databases are named. */
export type DatabaseServer = { databaseUrl: string; testRun: string };

const serverOfRun = (): DatabaseServer => ({
  databaseUrl: inject('databaseUrl'),
  testRun: inject('testRun'),
});

/** A migrated, unused database, for tests of plans and of sizes. `server`: outside a test file. */
export async function createFreshDatabase(server: DatabaseServer = serverOfRun()): Promise<TestDatabase> {
  const { databaseUrl, testRun } = server;
  return createDatabaseFrom({ adminUrl: databaseUrl, run: testRun, migrations: MIGRATIONS, migrate: migrated });
}

async function migrated(url: string): Promise<void> {
  await migrate(url);
}

const pool = new DatabasePool(() => createFreshDatabase());

/** A migrated, empty database on the run's PostgreSQL. Another test may have used it before. */
export async function createTestDatabase(): Promise<PooledDatabase> {
  return pool.lend();
}

/** A database without tables, on the run's PostgreSQL: nothing was migrated. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const { databaseUrl: adminUrl, testRun } = serverOfRun();
  const name = newName(testRun);
  await connected(adminUrl, (sql) => sql.unsafe(`CREATE DATABASE ${name}`));
  return { url: urlOf(adminUrl, name), drop: () => dropDatabase(adminUrl, name) };
}

export async function createDatabaseFrom(source: TemplateSource): Promise<Copy> {
  const template = await templateFor(source);
  const name = newName(source.run);
  await connected(source.adminUrl, (sql) => sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template}`));
  return {
    url: urlOf(source.adminUrl, name),
    template,
    drop: () => dropDatabase(source.adminUrl, name),
  };
}

function newName(run: string): string {
  return `${prefixOf(run)}${randomBytes(5).toString('hex')}`;
}

/** The prefix of the names of a run's databases. */
function prefixOf(run: string): string {
  return `nightshift_test_${createHash('sha256').update(run).digest('hex').slice(0, 10)}_`;
}

/** Drops all databases that tests of this run made. */
export async function dropDatabasesOf(run: string, adminUrl: string): Promise<void> {
  await connected(adminUrl, async (sql) => {
    const made = await sql<{ datname: string }[]>`
      select datname from pg_database where starts_with(datname, ${prefixOf(run)})`;
    for (const { datname } of made) await sql.unsafe(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`);
  });
}

async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await connected(adminUrl, (sql) => sql.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
}

/** The template's name, after it was made where it did not exist. */
async function templateFor(source: TemplateSource): Promise<string> {
  const name = `nightshift_template_${await hashOf(source.migrations)}`;
  await connected(source.adminUrl, async (sql) => {
    if (await isThere(sql, name)) return;
    await sql`SELECT pg_advisory_lock(hashtextextended(${name}, 0))`;
    if (await isThere(sql, name)) return;
    const unfinished = `${name}_unfinished`;
    await sql.unsafe(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
    await sql.unsafe(`CREATE DATABASE ${unfinished}`);
    await source.migrate(urlOf(source.adminUrl, unfinished));
    await sql.unsafe(`ALTER DATABASE ${unfinished} RENAME TO ${name}`);
  });
  return name;
}

async function isThere(sql: postgres.Sql, name: string): Promise<boolean> {
  return (await sql`SELECT 1 FROM pg_database WHERE datname = ${name}`).length > 0;
}

async function hashOf(folder: string): Promise<string> {
  const hash = createHash('sha256');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  for (const file of files.sort()) hash.update(path.relative(folder, file)).update(await readFile(file));
  return hash.digest('hex').slice(0, 16);
}

function urlOf(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}
