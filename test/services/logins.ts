// Logins that do not own the tables, for tests of what they may do.
import postgres from 'postgres';
import { DATABASE_SCHEMA } from '../../src/core/database-schema.ts';
import { grantLogins } from '../../src/db/setup/logins.ts';

/** They stay on the server of the run, and have no rights but in databases of its tests. */
const LOGINS = { api: 'nightshift_test_api', worker: 'nightshift_test_worker' };
const PASSWORD = 'of-tests';

/** Gives the logins their rights in a migrated database. Returns its URL for each of them. */
export async function withLogins(databaseUrl: string): Promise<{ api: string; worker: string }> {
  const sql = postgres(databaseUrl, {
    max: 1,
    onnotice: () => undefined,
    connection: { search_path: DATABASE_SCHEMA },
  });
  try {
    await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtextextended('nightshift logins of tests', 0))`;
      for (const name of Object.values(LOGINS)) {
        const known = await tx`select 1 from pg_roles where rolname = ${name}`;
        if (known.length === 0) await tx.unsafe(`create role ${name} login password '${PASSWORD}'`);
      }
    });
    await grantLogins(sql, DATABASE_SCHEMA, LOGINS);
  } finally {
    await sql.end({ timeout: 5 });
  }
  const urlOf = (login: string): string =>
    Object.assign(new URL(databaseUrl), { username: login, password: PASSWORD }).href;
  return { api: urlOf(LOGINS.api), worker: urlOf(LOGINS.worker) };
}
