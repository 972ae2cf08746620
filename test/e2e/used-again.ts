// Stages whose databases are used again, one play after the other: to make a database costs more CPU than to empty it.
import { createTestDatabase } from '../services/database.ts';
import type { TestDatabase } from '../services/database.ts';
import { openStage } from './stage.ts';
import type { Stage } from './stage.ts';

const idle: TestDatabase[] = [];

/** The stage is empty, and closed in the end. Nothing may be connected to its database any more once `work` has resolved. */
export async function onStage<T>(work: (stage: Stage) => Promise<T>): Promise<T> {
  const database = idle.pop() ?? (await createTestDatabase());
  const stage = await openStage({ database });
  let isReusable = false;
  try {
    const result = await work(stage);
    await empty(stage);
    isReusable = true;
    return result;
  } finally {
    await stage.close();
    if (isReusable) idle.push(database);
    else await database.drop();
  }
}

/** At the end of a test file. */
export async function dropDatabases(): Promise<void> {
  await Promise.all(idle.splice(0).map((database) => database.drop()));
}

/** Deletes every row, in any order of the tables: foreign keys are not checked meanwhile. */
async function empty(stage: Stage): Promise<void> {
  await stage.query(`
    do $$ declare name text; begin
      perform set_config('session_replication_role', 'replica', true);
      for name in select tablename from pg_tables where schemaname = 'public' loop
        execute format('delete from %I', name);
      end loop;
    end $$`);
}
