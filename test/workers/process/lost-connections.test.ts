// Lost connections of the driver: the caller of any running statement gets an error, and the process lives on. An
// unhandled error of the driver would end a real process; here it would fail the run.
import { sql } from 'drizzle-orm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase, type Database, type Executor } from '../../../src/db/connection/client.ts';
import { isUnavailable } from '../../../src/db/connection/database-errors.ts';
import { createTestDatabase, type TestDatabase } from '../../services/database.ts';

let made: TestDatabase;
let database: Database;
let admin: Database;

beforeEach(async () => {
  made = await createTestDatabase();
  database = openDatabase(made.url, { max: 2, name: 'victim' });
  admin = openDatabase(made.url, { max: 1, name: 'admin' });
});

afterEach(async () => {
  await database.close(1);
  await admin.close(1);
  await made.drop();
});

async function endAll(): Promise<void> {
  await admin.db.execute(sql`
    select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'victim'`);
}

/** Resolves once the server has none of the victim's connections. */
async function gone(): Promise<void> {
  const count = async (): Promise<number> => {
    const rows = await admin.db.execute(sql`select 1 from pg_stat_activity where application_name = 'victim'`);
    return rows.length;
  };
  while ((await count()) > 0);
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => new Error('it succeeded'),
    (error: unknown) => error,
  );
}

async function expectAlive(): Promise<void> {
  expect(await database.transaction((tx) => tx.execute(sql`select 1 as one`))).toEqual([{ one: 1 }]);
}

/** A macrotask later: by then every unhandled error has been raised. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

test.each([
  [
    'while a statement runs',
    async (tx: Executor) => void (await Promise.all([tx.execute(sql`select pg_sleep(60)`), endAll()])),
  ],
  [
    'between two statements',
    async (tx: Executor) => {
      await endAll();
      await gone();
      await tx.execute(sql`select 1`);
    },
  ],
  [
    'under its last statement',
    async (_: Executor, last: Executor) => {
      const asked = last.execute(sql`select pg_sleep(60)`);
      await endAll();
      await asked;
    },
  ],
  [
    'before its commit',
    async () => {
      await endAll();
      await gone();
    },
  ],
  [
    'before it is rolled back',
    async () => {
      await endAll();
      await gone();
      throw new Error('of its own');
    },
  ],
])('a transaction whose connection is lost %s fails, and no other', async (_, work) => {
  const failure = await failureOf(
    database.transaction(async (tx, last) => {
      await tx.execute(sql`select 1`);
      await work(tx, last);
    }),
  );
  expect(isUnavailable(failure)).toBe(true);
  await settled();
  await expectAlive();
});

test('connections that are closed while they open leave nothing behind', async () => {
  for (let count = 0; count < 20; count += 1) {
    const opening = openDatabase(made.url, { max: 1, name: 'opening' });
    const asked = failureOf(Promise.resolve(opening.db.execute(sql`select 1`)));
    await new Promise((resolve) => setTimeout(resolve, count));
    await opening.close(0);
    await asked;
  }
  await settled();
  await expectAlive();
});
