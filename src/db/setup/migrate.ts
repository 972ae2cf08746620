/**
 * Migrates a database's schema. Several processes may start this at once: an advisory lock lets one run while the
 * others wait and then find nothing to do. It uses its own connection, because the lock belongs to the session.
 */
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator';
import postgres from 'postgres';
import { MIGRATIONS } from '../../package-files.ts';
import { DATABASE_SCHEMA } from '../../core/database-schema.ts';
import { DatabaseRefused } from './database-refused.ts';
import { grantLogins, refuseUnfit } from './logins.ts';
import { MIGRATIONS_TABLE, writeOldest } from './migrations-table.ts';
import { isServer } from './pooling.ts';
import type { Logins } from './row-security.ts';
import { describeSchemaProblem, schemaState } from './schema-state.ts';
import { refuseWithoutSession, refusedStart } from './unfit-pooling.ts';

/** An arbitrary lock number that is used only here. */
const LOCK = 7_227_001;
const OLDEST_SERVER = 150_000;

/**
 * Creates `schema` if it does not exist. With `logins`, gives them their rights; without, leaves rights and policies as
 * they are. `databaseUrl` must not lead to a pooler that shares sessions. Returns the names of the migrations that it
 * applied. Throws `DatabaseRefused`, which leaves all unchanged, or the error of a migration that fails: it leaves the
 * tables unchanged, except that processes of versions too old for these migrations do not start any more.
 */
export async function migrate(
  databaseUrl: string,
  schema = DATABASE_SCHEMA,
  logins: Logins | null = null,
): Promise<readonly string[]> {
  const client = postgres(databaseUrl, {
    max: 1,
    max_lifetime: null,
    onnotice: () => undefined,
    connection: { search_path: schema },
  });
  try {
    const rows = await client<{ version: number; name: string; pid: number; searchPath: string }[]>`
      select current_setting('server_version_num')::int as version, current_setting('server_version') as name,
        pg_backend_pid() as pid, current_setting('search_path') as "searchPath"`.catch((error: unknown) => {
      throw refusedStart(error);
    });
    const [server] = rows;
    if (server !== undefined && server.version < OLDEST_SERVER) {
      throw new DatabaseRefused(`Nightshift needs PostgreSQL 15 or newer. This server is PostgreSQL ${server.name}.`);
    }
    if (server !== undefined && !isServer(rows.state, server.pid))
      await refuseWithoutSession(databaseUrl, schema, server.searchPath);
    await client`select pg_advisory_lock(${LOCK})`;
    const db = drizzle(client);
    const state = await schemaState((statement) => db.execute(statement));
    const problem = state.kind === 'behind' ? null : describeSchemaProblem(state);
    if (problem !== null) throw new DatabaseRefused(problem);
    if (logins !== null) await refuseUnfit(client, schema, logins);
    // Before the migrations, so that no process of an older version starts after them.
    await writeOldest(client);
    await applyMigrations(db, {
      migrationsFolder: MIGRATIONS,
      migrationsSchema: schema,
      migrationsTable: MIGRATIONS_TABLE,
    });
    await writeOldest(client);
    if (logins !== null) await grantLogins(client, schema, logins);
    return state.kind === 'behind' ? state.missing : [];
  } finally {
    await client.end({ timeout: 5 });
  }
}
