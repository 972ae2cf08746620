/** Inspects a database from outside, read-only: its version, and whether its schema is up to date. */
import { drizzle } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import { schemaState, type SchemaState } from './schema-state.ts';

const ASKED_WITHIN_S = 5;

export type DatabaseSight = {
  /** `15.8`, and as a number: 150008. */
  version: { name: string; number: number };
  schema: SchemaState;
  /** How far the database's clock is ahead of this process, in milliseconds; accurate to `roundTripMs`. */
  skewMs: number;
  roundTripMs: number;
};

/** `login`: as for `schemaState`. Throws the driver's error if the database cannot be reached. */
export async function inspectDatabase(
  databaseUrl: string,
  schema: string,
  login?: Parameters<typeof schemaState>[1],
): Promise<DatabaseSight> {
  const sql = postgres(databaseUrl, {
    max: 1,
    connect_timeout: ASKED_WITHIN_S,
    onnotice: () => undefined,
    connection: { search_path: schema },
  });
  try {
    const [server] = await sql<{ number: number; name: string }[]>`
      select current_setting('server_version_num')::int as number, current_setting('server_version') as name`;
    if (server === undefined) throw new Error('PostgreSQL did not return its version.');
    const before = Date.now();
    const [clock] = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
    const after = Date.now();
    const db = drizzle(sql);
    return {
      version: server,
      schema: await schemaState((statement) => db.execute(statement), login),
      skewMs: clock === undefined ? 0 : clock.now.getTime() - (before + after) / 2,
      roundTripMs: after - before,
    };
  } finally {
    await sql.end({ timeout: 1 });
  }
}
