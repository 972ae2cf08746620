/** `migrate`: applies the migrations and exits. */
import { migrate } from '../db/connection/migrate.ts';
import { isUnavailable } from '../db/connection/database-errors.ts';
import { setTimeout } from 'node:timers/promises';

/** How long to wait for the database to come up, in milliseconds. */
const COMING_UP_MS = 30_000;

/** Retries while the database is still starting. */
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
