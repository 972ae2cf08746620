/** `worker-health`: checks for a live worker process on this host, by the heartbeats in the database. */
import { hostname } from 'node:os';
import { ConfigError, parseEnvironment } from '../config/config.ts';
import { openDatabase } from '../db/connection/client.ts';
import { livesOn } from '../db/processes/processes.ts';

/** The exit code: 0, or 1 with the reason on stderr. */
export async function workerHealth(): Promise<number> {
  const { databaseUrl, databaseSchema, heartbeatTimeoutMs, leaseMs } = parseEnvironment(process.env);
  if (databaseUrl === null)
    throw new ConfigError(['DATABASE_URL is not set: set it to the URL of the PostgreSQL database']);
  const database = openDatabase(databaseUrl, { max: 1, schema: databaseSchema });
  try {
    if (await livesOn(database.db, hostname(), { heartbeatTimeoutMs, leaseMs })) return 0;
    process.stderr.write('No worker process on this host has a current heartbeat.\n');
    return 1;
  } catch {
    process.stderr.write('The database is unreachable or not migrated. Run `nightshift doctor` to find the problem.\n');
    return 1;
  } finally {
    await database.close();
  }
}
