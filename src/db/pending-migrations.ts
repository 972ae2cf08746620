/** Which migrations of this version a database lacks. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'drizzle-orm';
import { errorCode } from './client.ts';
import type { Executor } from './client.ts';
import { MIGRATIONS } from './migrate.ts';

/** No migration was ever applied: neither the table nor its schema is there. */
const NO_TABLE = ['42P01', '3F000'];

/** A role that may not read which were applied is believed to have them all. */
const NOT_ALLOWED = '42501';

type Entry = { tag: string; when: number };

/** Their names, oldest first; empty: it has all. Rejects where the database does not answer. */
export async function pendingMigrations(executor: Executor): Promise<string[]> {
  const [entries, last] = await Promise.all([journal(), lastApplied(executor)]);
  return entries.filter(({ when }) => when > last).map(({ tag }) => tag);
}

async function lastApplied(executor: Executor): Promise<number> {
  try {
    const [row] = await executor.execute<{ last: number | null }>(
      sql`select max(created_at)::float8 as last from drizzle.__drizzle_migrations`,
    );
    return row?.last ?? 0;
  } catch (error) {
    if (errorCode(error) === NOT_ALLOWED) return Infinity;
    if (NO_TABLE.includes(errorCode(error))) return 0;
    throw error;
  }
}

let entries: Promise<Entry[]> | null = null;

/** Written by drizzle-kit, beside the migrations; read once. */
function journal(): Promise<Entry[]> {
  entries ??= readFile(path.join(MIGRATIONS, 'meta', '_journal.json'), 'utf8').then(
    (text) => (JSON.parse(text) as { entries: Entry[] }).entries,
  );
  return entries;
}

/** What to tell people of them. */
export function migrationsNeeded(pending: readonly string[]): string {
  return `The database lacks ${pending.length === 1 ? 'the migration' : 'the migrations'} ${pending.join(', ')}. Run \`nightshift migrate\` (in a clone: \`npm run migrate\`).`;
}
