// An outbox in a database of its own, as a service has it.
import postgres from 'postgres';
import { openDatabase, type Database, type DatabaseOptions } from '../../src/db/connection/client.ts';
import { installOutbox, withOutbox } from '../../src/db/outbox/install.ts';
import { createEmptyDatabase } from './database.ts';

export const OUTBOX_SCHEMA = 'nightshift';

export type ServiceDatabase = {
  url: string;
  sql: postgres.Sql;
  install(): Promise<unknown>;
  /** A connection of the relay. */
  open(options?: DatabaseOptions): Database;
  rows(): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
};

export async function createServiceDatabase(): Promise<ServiceDatabase> {
  const own = await createEmptyDatabase();
  const sql = postgres(own.url, { max: 4, onnotice: () => undefined });
  const opened: Database[] = [];
  return {
    url: own.url,
    sql,
    install: () =>
      withOutbox(own.url, OUTBOX_SCHEMA, (outbox) =>
        installOutbox(outbox, { schema: OUTBOX_SCHEMA, submitters: [], relays: [] }),
      ),
    open(options = {}) {
      const database = openDatabase(own.url, { max: 1, schema: OUTBOX_SCHEMA, ...options });
      opened.push(database);
      return database;
    },
    rows: async () => [
      ...(await sql`select job_id, tenant, error ->> 'code' as code from nightshift.outbox order by position`),
    ],
    async close() {
      await Promise.all(opened.map((one) => one.close()));
      await sql.end();
      await own.drop();
    },
  };
}
