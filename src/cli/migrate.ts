/** `migrate`: brings the database up to date and ends. */
import { migrate } from '../db/migrate.ts';
import { isUnavailable } from '../db/client.ts';
import { setTimeout } from 'node:timers/promises';

/** How long a database may take to come up, in milliseconds. */
const COMING_UP_MS = 30_000;

/** Waits for a database that is still starting. */
export async function migrateWhenUp(databaseUrl: string, schema: string): Promise<void> {
  const deadline = performance.now() + COMING_UP_MS;
  for (;;) {
    try {
      return await migrate(databaseUrl, schema);
    } catch (error) {
      if (!isUnavailable(error) || performance.now() > deadline) throw error;
      await setTimeout(500);
    }
  }
}
