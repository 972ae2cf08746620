// A frozen process holds a row lock: PostgreSQL's own limits, and the process that waits for the lock, terminate its
// session.
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type Database, type DatabaseOptions, type Executor } from '../../../src/db/connection/client.ts';
import { errorCode } from '../../../src/db/connection/database-errors.ts';
import { FROZEN_LIMITS, terminateFrozenSessions } from '../../../src/db/processes/frozen-sessions.ts';
import { createFreshDatabase, type TestDatabase } from '../../services/database.ts';

let own: TestDatabase;
const opened: Database[] = [];
beforeAll(async () => {
  own = await createFreshDatabase();
  await open().db.execute(sql`create table rows (id int primary key, n int not null)`);
  await open().db.execute(sql`insert into rows select i, 0 from generate_series(1, 20) i`);
});
afterAll(async () => {
  await Promise.all(opened.map((one) => one.close(0)));
  await own.drop();
});

function open(options: DatabaseOptions = {}): Database {
  const database = openDatabase(own.url, { max: 2, ...options });
  opened.push(database);
  return database;
}

const add = (executor: Executor, id: number) => executor.execute(sql`update rows set n = n + 1 where id = ${id}`);
const read = async (id: number) => {
  const [row] = await open().db.execute<{ n: number }>(sql`select n from rows where id = ${id}`);
  return row?.n;
};

/** Locks the row and freezes for so long. */
function holding(database: Database, id: number, ms: number) {
  const locked = Promise.withResolvers<void>();
  const over = database.transaction(async (tx) => {
    await add(tx, id);
    locked.resolve();
    await sleep(ms);
    await add(tx, id);
  });
  over.catch(() => undefined);
  return { locked: locked.promise, over };
}

test('a transaction whose next statement does not come is ended by the server', async () => {
  const still = holding(open({ limits: { idleInTransaction: 200 } }), 1, 3_000);
  await still.locked;
  await add(open().db, 1);
  await expect(still.over).rejects.toThrow();
  expect(await read(1)).toBe(1);
});

test('a process that reads long rows slowly keeps its connection', async () => {
  const slow = open({ max: 1, limits: FROZEN_LIMITS });
  await slow.db.execute(sql`select 1`);
  const rows = slow.transaction((_, last) =>
    last.execute(sql`select repeat('x', 15000000) as long from generate_series(1, 8)`),
  );
  // In between it reads what has arrived: more than the buffers of the connection hold is on its way. Together shorter
  // than the limit, in case a busy machine lets it read nothing in between.
  const still = new Int32Array(new SharedArrayBuffer(4));
  for (let blocked = 0; blocked < 2; blocked += 1) {
    await sleep(200);
    Atomics.wait(still, 0, 0, 2_000);
  }
  expect(await rows).toHaveLength(8);
});

test('a caller waits for a busy lock without a connection', async () => {
  const still = holding(open(), 2, 1_500);
  await still.locked;
  const patient = open({ max: 1, limits: { lock: 100 }, lockTimeoutMs: 10_000 });
  let begun = 0;
  const alone = add(patient.db, 2);
  const whole = patient.transaction(async (tx) => {
    begun += 1;
    await add(tx, 3);
    await add(tx, 2);
  });
  for (let asked = 0; asked < 5; asked += 1) {
    await sleep(100);
    const before = performance.now();
    await patient.db.execute(sql`select 1`);
    expect(performance.now() - before).toBeLessThan(1_000);
  }
  await Promise.all([alone, whole, still.over]);
  expect(begun).toBeGreaterThan(1);
  // Nothing was done twice.
  expect([await read(2), await read(3)]).toEqual([4, 1]);
});

test('a caller does not wait forever: it gets an error in the end', async () => {
  const still = holding(open(), 4, 3_000);
  await still.locked;
  let freed = 0;
  const options = { lockTimeoutMs: 1_000, onLocked: async () => void (freed += 1) };
  const impatient = open({ limits: { lock: 100 }, ...options });
  // It is connected before its time limit starts.
  await impatient.db.execute(sql`select 1`);
  const failed = await add(impatient.db, 4).catch((error: unknown) => errorCode(error));
  expect(failed).toBe('55P03');
  expect(freed).toBeGreaterThan(0);
  await still.over;
});

test('a process that waits for a lock terminates frozen sessions of the platform, and no others', async () => {
  const named = (name: string, id: number) => {
    const still = holding(open({ name }), id, 4_000);
    return { ...still, name };
  };
  const ours = named('nightshift-frozen', 5);
  const others = [named('psql', 6), named('nightshift', 7)];
  const reader = open({ name: 'nightshift-reader' }).transaction(async (tx) => {
    await tx.execute(sql`select 1`);
    await sleep(2_500);
    await tx.execute(sql`select 1`);
  });
  await Promise.all([ours, ...others].map(({ locked }) => locked));
  const waiting = open({
    name: 'nightshift-waiting',
    limits: { lock: 200 },
    lockTimeoutMs: 8_000,
    onLocked: terminateFrozenSessions,
  });
  const began = performance.now();
  await add(waiting.db, 5);
  expect(performance.now() - began).toBeGreaterThan(500);
  await expect(ours.over).rejects.toThrow();
  expect(await read(5)).toBe(1);
  await Promise.all([reader, ...others.map(({ over }) => over)]);
});
