/**
 * Brings a database's schema up to date. Safe for several starters at once: an advisory lock lets one work while the
 * others wait and then find nothing left to do. Runs on a connection of its own, so that the lock and the work share it.
 */
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator';
import postgres from 'postgres';
import { MIGRATIONS } from '../package-files.ts';

/** An arbitrary number that only this uses. */
const LOCK = 7_227_001;
const OLDEST_SERVER = 150_000;

/** Throws where the server is older than PostgreSQL 15 or a migration fails; nothing is half applied. */
export async function migrate(databaseUrl: string): Promise<void> {
  const client = postgres(databaseUrl, { max: 1, max_lifetime: null, onnotice: () => undefined });
  try {
    const [server] = await client<{ version: number; name: string }[]>`
      select current_setting('server_version_num')::int as version, current_setting('server_version') as name`;
    if (server !== undefined && server.version < OLDEST_SERVER) {
      throw new Error(`PostgreSQL 15 or newer is needed; this server is ${server.name}.`);
    }
    await client`select pg_advisory_lock(${LOCK})`;
    await applyMigrations(drizzle(client), { migrationsFolder: MIGRATIONS });
  } finally {
    await client.end({ timeout: 5 });
  }
}
