// Logins that do not own the tables, for tests of what they may do.
import { DATABASE_SCHEMA } from '../../src/core/database-schema.ts';
import { grantLogins } from '../../src/db/setup/logins.ts';
import { connected } from './connected.ts';

/** They stay on the server of the run, and have no rights but in databases of its tests. */
const LOGINS = { api: 'nightshift_test_api', worker: 'nightshift_test_worker' };
const PASSWORD = 'of-tests';

/** Makes the logins on the server of the run, where they are not there yet. Called once, before any test. */
export async function makeLogins(serverUrl: string): Promise<void> {
  await connected(serverUrl, async (server) => {
    // Another run may use the same server.
    await server`select pg_advisory_lock(hashtextextended('nightshift logins of tests', 0))`;
    for (const name of Object.values(LOGINS)) {
      const known = await server`select 1 from pg_roles where rolname = ${name}`;
      if (known.length === 0) await server.unsafe(`create role ${name} login password '${PASSWORD}'`);
    }
    await server.unsafe(`grant ${LOGINS.api} to ${LOGINS.worker}`);
  });
}

/** Gives the logins their rights in a migrated database. Returns its URL for each of them. */
export async function withLogins(databaseUrl: string): Promise<{ api: string; worker: string }> {
  const grant = connected(databaseUrl, (sql) => grantLogins(sql, DATABASE_SCHEMA, LOGINS), {
    searchPath: DATABASE_SCHEMA,
  });
  await grant.catch((cause: unknown) => {
    throw new Error(`The logins of tests could not be given their rights: ${String(cause)}`, { cause });
  });
  const urlOf = (login: string): string =>
    Object.assign(new URL(databaseUrl), { username: login, password: PASSWORD }).href;
  return { api: urlOf(LOGINS.api), worker: urlOf(LOGINS.worker) };
}
