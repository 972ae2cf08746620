/** Which migrations of this version a database lacks. */
import { readFile } from 'node:fs/promises';
import { sql } from 'drizzle-orm';
import { errorCode } from './client.ts';
import type { Executor } from './client.ts';
import { MIGRATION_JOURNAL } from '../package-files.ts';

/** No migration was ever applied: neither the table nor its schema is there. */
const NO_TABLE = ['42P01', '3F000'];

/** A role that may not read which were applied is believed to have them all. */
const NOT_ALLOWED = '42501';

/** `when`: its number in the database's own list of what was applied. */
export type Migration = { tag: string; when: number };

/** Their names, oldest first; empty: it has all. Rejects where the database does not answer. */
export async function pendingMigrations(executor: Executor): Promise<string[]> {
  const [entries, last] = await Promise.all([knownMigrations(), lastApplied(executor)]);
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

let entries: Promise<Migration[]> | null = null;

/** The migrations of this version, oldest first, from the journal that drizzle-kit writes beside them; read once. */
export function knownMigrations(): Promise<Migration[]> {
  entries ??= readFile(MIGRATION_JOURNAL, 'utf8').then(
    (text) => (JSON.parse(text) as { entries: Migration[] }).entries,
  );
  return entries;
}

/** What to tell people of them. */
export function migrationsNeeded(pending: readonly string[]): string {
  return `The database lacks ${pending.length === 1 ? 'the migration' : 'the migrations'} ${pending.join(', ')}. Run \`nightshift migrate\` (in a clone: \`npm run migrate\`).`;
}
