// Migrations by several starters at once, again, and on a server that is too old.
import { readFile } from 'node:fs/promises';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { migrate } from '../../src/db/migrate.ts';
import { startStatementNetwork } from './statement-network.ts';
import type { Rewrite } from './statement-network.ts';

const MIGRATIONS = new URL('../../src/db/migrations/', import.meta.url);

const name = `nightshift_test_migrate_${Date.now()}`;
const url = () => Object.assign(new URL(inject('databaseUrl')), { pathname: `/${name}` }).href;

async function ask(database: string, text: string): Promise<Record<string, unknown>[]> {
  const client = postgres(database, { max: 1, onnotice: () => undefined });
  try {
    return [...(await client.unsafe(text))];
  } finally {
    await client.end();
  }
}

beforeAll(() => ask(inject('databaseUrl'), `create database ${name}`));
afterAll(() => ask(inject('databaseUrl'), `drop database if exists ${name} with (force)`));

test('an older server is refused before anything is touched', async () => {
  const older: Rewrite = (text) =>
    text
      .replace("current_setting('server_version_num')", "'140009'")
      .replace("current_setting('server_version')", "'14.9'");
  const network = await startStatementNetwork(url(), older);
  onTestFinished(() => network.close());
  await expect(migrate(network.url)).rejects.toThrow(
    'PostgreSQL 15 or newer is needed; this server is 14.9.',
  );
  expect(await ask(url(), `select 1 from pg_tables where schemaname = 'public'`)).toEqual([]);
});

test('many starters at once migrate once, and one that comes later finds nothing to do', async () => {
  await Promise.all(Array.from({ length: 6 }, () => migrate(url())));
  const applied = () =>
    ask(url(), 'select id, hash, created_at from drizzle.__drizzle_migrations order by id');
  const first = await applied();
  expect(first.length).toBeGreaterThan(0);
  expect(new Set(first.map(({ hash }) => hash)).size).toBe(first.length);
  await migrate(url());
  expect(await applied()).toEqual(first);
});

test('what a cost is stored in is added to tables as they lie: none is rewritten, and what is there has no cost', async () => {
  const { entries } = JSON.parse(await readFile(new URL('meta/_journal.json', MIGRATIONS), 'utf8')) as {
    entries: { tag: string }[];
  };
  const textOf = (tag: string) => readFile(new URL(`${tag}.sql`, MIGRATIONS), 'utf8');
  const before = entries.slice(
    0,
    entries.findIndex(({ tag }) => tag === '0005_cost'),
  );
  const older = `${name}_older`;
  const at = Object.assign(new URL(url()), { pathname: `/${older}` }).href;
  await ask(inject('databaseUrl'), `create database ${older}`);
  try {
    for (const { tag } of before) await ask(at, await textOf(tag));
    await ask(
      at,
      `insert into contexts (id, tenant_id) select gen_random_uuid(), 't' from generate_series(1, 1000)`,
    );
    const files = () =>
      ask(
        at,
        `select relname, pg_relation_filenode(oid) as file, pg_relation_size(oid) as size from pg_class
        where relname in ('contexts', 'messages', 'jobs', 'branches') order by 1`,
      );
    const lay = await files();
    expect(lay).toHaveLength(4);
    await ask(at, await textOf('0005_cost'));
    expect(await files()).toEqual(lay);
    expect(await ask(at, 'select count(*)::int, count(cost_nanos)::int as known from contexts')).toEqual([
      { count: 1_000, known: 0 },
    ]);
  } finally {
    await ask(inject('databaseUrl'), `drop database if exists ${older} with (force)`);
  }
});

test('the lock is not left behind', async () => {
  expect(
    await ask(
      url(),
      `select 1 from pg_locks where locktype = 'advisory' and objid = 7227001
      and database = (select oid from pg_database where datname = current_database())`,
    ),
  ).toEqual([]);
});

test('hot tables leave room on their pages, and what changes at every append has no index', async () => {
  const options = await ask(
    url(),
    `select relname, reloptions from pg_class where relname in ('contexts', 'jobs', 'processes')`,
  );
  for (const { reloptions } of options) expect(String(reloptions)).toMatch(/fillfactor/);
  const indexed = await ask(
    url(),
    `select distinct a.attname from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
     where i.indrelid = 'contexts'::regclass order by 1`,
  );
  expect(indexed.map(({ attname }) => attname)).toEqual(['id', 'lease_owner', 'sweep_at', 'tenant_id']);
});
