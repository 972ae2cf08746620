// Connections of the checks, straight to PostgreSQL.
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase, type Executor } from '../../../src/db/connection/client.ts';

const TRIES = 60;

export async function withDatabase<T>(url: string, work: (db: Executor) => Promise<T>): Promise<T> {
  const database = openDatabase(url, { max: 1, name: 'chaos' });
  try {
    return await work(database.db);
  } finally {
    await database.close(1);
  }
}

export async function all<Row extends Record<string, unknown>>(db: Executor, text: string): Promise<Row[]> {
  return [...(await db.execute(text))] as Row[];
}

/** Also while PostgreSQL has a fault: it comes back. */
export async function rows<Row extends Record<string, unknown>>(url: string, text: string): Promise<Row[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await withDatabase(url, (db) => all<Row>(db, text));
    } catch (error) {
      if (tries === TRIES) throw error;
      await sleep(500);
    }
  }
}
