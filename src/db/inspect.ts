/** Looks at a database from outside, without changing anything: what it is, and how far its schema is behind. */
import postgres from 'postgres';
import { knownMigrations } from './pending-migrations.ts';

const ASKED_WITHIN_S = 5;

export type DatabaseSight = {
  /** `15.8`, and as a number: 150008. */
  version: { name: string; number: number };
  /** Names of migrations that it has not. */
  pending: string[];
  /** How far its clock is ahead of ours, in milliseconds; exact to `roundTripMs`. */
  skewMs: number;
  roundTripMs: number;
};

/** Throws what the driver throws where it cannot be reached. */
export async function inspectDatabase(databaseUrl: string): Promise<DatabaseSight> {
  const sql = postgres(databaseUrl, { max: 1, connect_timeout: ASKED_WITHIN_S, onnotice: () => undefined });
  try {
    const [server] = await sql<{ number: number; name: string }[]>`
      select current_setting('server_version_num')::int as number, current_setting('server_version') as name`;
    if (server === undefined) throw new Error('The database did not say its version.');
    const before = Date.now();
    const [clock] = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
    const after = Date.now();
    const [journal] = await sql<{ there: boolean }[]>`
      select to_regclass('drizzle.__drizzle_migrations') is not null as there`;
    const applied =
      journal?.there === true
        ? await sql<{ at: string }[]>`select created_at::text as at from drizzle.__drizzle_migrations`
        : [];
    const last = Math.max(0, ...applied.map(({ at }) => Number(at)));
    const known = await knownMigrations();
    return {
      version: server,
      pending: known.filter(({ when }) => when > last).map(({ tag }) => tag),
      skewMs: clock === undefined ? 0 : clock.now.getTime() - (before + after) / 2,
      roundTripMs: after - before,
    };
  } finally {
    await sql.end({ timeout: 1 });
  }
}
