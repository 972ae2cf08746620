// Logins that do not own the tables, for tests of what they may do.
import postgres from 'postgres';
import { inject } from 'vitest';
import { DATABASE_SCHEMA } from '../../src/core/database-schema.ts';
import { grantLogins } from '../../src/db/setup/logins.ts';

/** They stay on the server of the run, and have no rights but in databases of its tests. */
const LOGINS = { api: 'nightshift_test_api', worker: 'nightshift_test_worker' };
const PASSWORD = 'of-tests';

/** Gives the logins their rights in a migrated database. Returns its URL for each of them. */
export async function withLogins(databaseUrl: string): Promise<{ api: string; worker: string }> {
  // Logins belong to the server, and a lock to one database: this is the one that all tests share.
  await connected(inject('databaseUrl'), async (server) => {
    await server`select pg_advisory_lock(hashtextextended('nightshift logins of tests', 0))`;
    for (const name of Object.values(LOGINS)) {
      const known = await server`select 1 from pg_roles where rolname = ${name}`;
      if (known.length === 0) await server.unsafe(`create role ${name} login password '${PASSWORD}'`);
    }
    await connected(databaseUrl, (sql) => grantLogins(sql, DATABASE_SCHEMA, LOGINS));
  });
  const urlOf = (login: string): string =>
    Object.assign(new URL(databaseUrl), { username: login, password: PASSWORD }).href;
  return { api: urlOf(LOGINS.api), worker: urlOf(LOGINS.worker) };
}

async function connected(url: string, work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const connection = { search_path: DATABASE_SCHEMA };
  const sql = postgres(url, { max: 1, onnotice: () => undefined, connection });
  try {
    await work(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
