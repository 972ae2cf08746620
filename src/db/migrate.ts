/**
 * Brings a database's schema up to date. Several processes may start it at once: an advisory lock lets one work while the
 * others wait and then find nothing left to do. It uses a connection of its own, so that the lock and the work share it.
 */
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator';
import postgres from 'postgres';
import { MIGRATIONS } from '../package-files.ts';
import { DATABASE_SCHEMA } from '../core/database-schema.ts';
import { MIGRATIONS_TABLE, describeSchemaProblem, schemaState } from './schema-state.ts';

/** An arbitrary number that only this uses. */
const LOCK = 7_227_001;
const OLDEST_SERVER = 150_000;

/**
 * Creates `schema` where it does not exist. Throws where the server is older than PostgreSQL 15, where another build of
 * Nightshift made the schema, or where a migration fails; a failed migration leaves no change.
 */
export async function migrate(databaseUrl: string, schema = DATABASE_SCHEMA): Promise<void> {
  const client = postgres(databaseUrl, {
    max: 1,
    max_lifetime: null,
    onnotice: () => undefined,
    connection: { search_path: schema },
  });
  try {
    const [server] = await client<{ version: number; name: string }[]>`
      select current_setting('server_version_num')::int as version, current_setting('server_version') as name`;
    if (server !== undefined && server.version < OLDEST_SERVER) {
      throw new Error(`PostgreSQL 15 or newer is needed; this server is ${server.name}.`);
    }
    await client`select pg_advisory_lock(${LOCK})`;
    const db = drizzle(client);
    const state = await schemaState((statement) => db.execute(statement));
    if (state.kind === 'foreign') throw new Error(describeSchemaProblem(state) ?? undefined);
    await applyMigrations(db, {
      migrationsFolder: MIGRATIONS,
      migrationsSchema: schema,
      migrationsTable: MIGRATIONS_TABLE,
    });
  } finally {
    await client.end({ timeout: 5 });
  }
}
