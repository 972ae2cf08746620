// Instances of Nightshift in the process of a test, stopped after it.
import { onTestFinished } from 'vitest';
import { createNightshift, type Nightshift, type NightshiftOptions } from '../../src/index.ts';
import { createTestDatabase } from '../services/database.ts';

/** `end` runs after the test, before what was opened earlier. */
export function afterTest(end: () => Promise<unknown>): void {
  onTestFinished(async () => {
    await end();
  });
}

/** On a database of its own, unless the options name one. */
export async function openNightshift(options: NightshiftOptions = {}): Promise<Nightshift> {
  const databaseUrl = options.databaseUrl ?? (await ownDatabase());
  const nightshift = await createNightshift({ logger: 'silent', ...options, databaseUrl });
  afterTest(() => nightshift.stop());
  return nightshift;
}

async function ownDatabase(): Promise<string> {
  const database = await createTestDatabase();
  afterTest(() => database.drop());
  return database.url;
}
