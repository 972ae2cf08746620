/** `worker-health`: whether a worker process of this host is alive, by its beats in the database. */
import { hostname } from 'node:os';
import { ConfigError, parseConfig } from '../config/config.ts';
import { openDatabase } from '../db/client.ts';
import { livesOn } from '../db/processes.ts';

/** The exit code: 0, or 1 with a line that says why. */
export async function workerHealth(): Promise<number> {
  const { databaseUrl, databaseSchema, heartbeatTimeoutMs, leaseMs } = parseConfig(process.env);
  if (databaseUrl === null) throw new ConfigError(['DATABASE_URL must name the database']);
  const database = openDatabase(databaseUrl, { max: 1, schema: databaseSchema });
  try {
    if (await livesOn(database.db, hostname(), { heartbeatTimeoutMs, leaseMs })) return 0;
    process.stderr.write('No worker process of this host is alive.\n');
    return 1;
  } catch {
    process.stderr.write('The database cannot be reached, or lacks migrations: see `nightshift doctor`.\n');
    return 1;
  } finally {
    await database.close();
  }
}
