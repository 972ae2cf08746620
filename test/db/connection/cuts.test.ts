// Connections that are cut at any time, fall silent, or are never opened: nothing hangs, no caller gets the answer of
// another one, transactions are whole, and the pool works afterwards. An unhandled error fails the run.
import { setImmediate as nextRound } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, type TestContext } from 'vitest';
import { openDatabase, type Database, type DatabaseOptions } from '../../../src/db/connection/client.ts';
import { errorCode, isUnavailable } from '../../../src/db/connection/database-errors.ts';
import { startNetwork, startServer, startTls, type Network } from './faulty-network.ts';
import { given, type Given } from '../database-fixture.ts';
import { oneOf, seeded, type Random } from '../interleaving/scheduler.ts';

let the: Given;
let tls: Awaited<ReturnType<typeof startTls>>;
beforeAll(async () => {
  the = await given();
  tls = await startTls(the.url);
  await the.rows('create table marks (work int, part int)');
});
afterAll(async () => {
  await tls.close();
  await the.close();
});

/** Tests that run side by side have one each. */
type Finish = Pick<TestContext, 'onTestFinished'>;

async function network(url: string, random: Random = seeded(1), finish: Finish = { onTestFinished }): Promise<Network> {
  const made = await startNetwork(url, random);
  finish.onTestFinished(() => made.close());
  return made;
}

function open(url: string, options: DatabaseOptions, finish: Finish = { onTestFinished }): Database {
  const made = openDatabase(url, options);
  finish.onTestFinished(() => made.close(0));
  return made;
}

async function failureOf(work: PromiseLike<unknown>): Promise<unknown> {
  return work.then(
    () => new Error('it succeeded'),
    (error: unknown) => error,
  );
}

/** Longer than anything here takes unless it hangs. */
const HANGS_MS = 40_000;

/** Longer than Postgres takes to answer, however busy the machine is. */
const SILENT_MS = 3_000;

async function inTime<T>(work: PromiseLike<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('it hangs')), HANGS_MS);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

/** Asks for a number, and for some text with it. */
async function read({ db }: Database, n: number, long: number): Promise<void> {
  const rows = await db.execute(sql`select ${n}::int as n, repeat('x', ${long}::int) as filler`);
  expect([...rows]).toEqual([{ n, filler: 'x'.repeat(long) }]);
}

class OfItsOwn extends Error {}

/** Leaves three marks or, if it fails, none. */
async function mark(database: Database, work: number, fails: boolean): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.execute(sql`insert into marks values (${work}::int, 1)`);
    await Promise.all([2, 3].map((part) => tx.execute(sql`insert into marks values (${work}::int, ${part}::int)`)));
    if (fails) throw new OfItsOwn();
  });
}

describe.each([
  { max: 1, how: 'plain', works: 300 },
  { max: 4, how: 'plain', works: 1_000 },
  { max: 4, how: 'under TLS', works: 600 },
])('a pool of $max on connections that are cut at random, $how', ({ max, how, works }) => {
  test('answers correctly or reports that Postgres is unavailable, and works again when the cuts end', async () => {
    const random = seeded(max);
    const between = await network(how === 'plain' ? the.url : tls.url, random);
    const database = open(between.url, { max, silentMs: 6 * HANGS_MS });
    await the.rows('truncate marks');
    const committed = new Set<number>();
    const rolledBack = new Set<number>();
    const wrong: unknown[] = [];

    const doOne = async (n: number): Promise<void> => {
      const fails = random() < 0.1;
      const [work, done] =
        random() < 0.7
          ? [read(database, n, Math.floor(random() * 5_000)), null]
          : [mark(database, n, fails), committed];
      try {
        await inTime(work);
        done?.add(n);
      } catch (error) {
        if (error instanceof OfItsOwn) rolledBack.add(n);
        else if (!isUnavailable(error)) wrong.push(error);
      }
    };
    let count = 0;
    const act = async (): Promise<void> => {
      while (count < works && wrong.length === 0) {
        count += 1;
        if (count % 25 === 0) between.faults = oneOf(random, [0, 0.02, 0.04]);
        await doOne(count);
        // Now and then a connection is idle.
        if (random() < 0.2) await nextRound();
      }
    };
    await Promise.all(Array.from({ length: 8 }, act));
    expect(wrong).toEqual([]);

    between.faults = 0;
    await inTime(Promise.all(Array.from({ length: 16 }, (_, n) => read(database, n, n))));
    await inTime(mark(database, 0, false));
    committed.add(0);
    const marks = await the.rows('select work, count(*)::int as parts from marks group by work');
    expect(marks.filter(({ parts }) => parts !== 3)).toEqual([]);
    const stored = new Set(marks.map(({ work }) => work));
    expect([...committed].filter((work) => !stored.has(work))).toEqual([]);
    expect([...rolledBack].filter((work) => stored.has(work))).toEqual([]);
    expect(committed.size).toBeGreaterThan(20);
  });
});

test.each([1, 3])('reads sent to a pool of %i while a connection is reset are all answered', async (max) => {
  const between = await network(the.url);
  const database = open(between.url, { max });
  for (let round = 0; round < 30; round += 1) {
    await database.db.execute(sql`select 1`);
    between.resetNext();
    await inTime(Promise.all([0, 1, 2, 3].map((n) => read(database, round * 10 + n, 0))));
  }
});

describe('a server that closes every connection it accepts', () => {
  test('is unavailable: the pool does not retry forever', async () => {
    let accepted = 0;
    const server = await startServer(the.url, (socket) => {
      accepted += 1;
      socket.destroy();
    });
    onTestFinished(() => server.close());
    const database = open(server.url, { max: 1 });
    expect(await inTime(failureOf(database.db.execute(sql`select 1`)))).toSatisfy(isUnavailable);
    expect(accepted).toBe(2);
    expect(await inTime(failureOf(database.transaction((tx) => tx.execute(sql`select 1`))))).toSatisfy(isUnavailable);
    expect(accepted).toBe(4);
    expect(await inTime(failureOf(database.db.execute(sql`delete from marks`)))).toSatisfy(isUnavailable);
    expect(accepted).toBe(5);
  });
});

describe.concurrent.each(['plain', 'under TLS'])('a connection that falls silent, %s', (how) => {
  const pool = async (finish: Finish): Promise<{ between: Network; database: Database }> => {
    const between = await network(how === 'plain' ? the.url : tls.url, seeded(1), finish);
    const database = open(between.url, { max: 1, silentMs: SILENT_MS }, finish);
    await read(database, 1, 1);
    return { between, database };
  };

  test('is given up: a write on it fails, and the next one has another connection', async (finish) => {
    const { between, database } = await pool(finish);
    between.silence();
    const failure = await inTime(failureOf(database.db.execute(sql`insert into marks values (-1, 1)`)));
    expect(errorCode(failure)).toBe('ECONNRESET');
    await inTime(mark(database, -2, false));
  });

  test('a connection that falls silent while it sends much is given up as well', async (finish) => {
    const { between, database } = await pool(finish);
    between.silence();
    const much = 'x'.repeat(20_000_000);
    const failure = await inTime(failureOf(database.db.execute(sql`delete from marks where ${much}::text = ''`)));
    expect(errorCode(failure)).toBe('ECONNRESET');
    await inTime(read(database, 2, 2));
  });

  test('under a read costs time only', async (finish) => {
    const { between, database } = await pool(finish);
    between.silence();
    await inTime(read(database, 2, 2));
  });

  test('is not an idle connection', async (finish) => {
    const { database } = await pool(finish);
    const pid = sql`select pg_backend_pid() as pid`;
    const [before] = await database.db.execute(pid);
    await the.rows(`select pg_sleep(${(1.5 * SILENT_MS) / 1_000})`);
    expect([...(await database.db.execute(pid))]).toEqual([before]);
  });
});

test('a server that accepts connections and then sends nothing is given up', async () => {
  const server = await startServer(the.url, () => undefined);
  onTestFinished(() => server.close());
  const database = open(server.url, { max: 1, silentMs: SILENT_MS });
  const failure = await inTime(failureOf(database.transaction((tx) => tx.execute(sql`select 1`))));
  expect(errorCode(failure)).toBe('ECONNRESET');
});

test('a server that refuses under TLS leaves no unhandled error', async () => {
  const nowhere = new URL(tls.url);
  nowhere.pathname = '/no_such_database';
  const database = open(nowhere.href, { max: 2 });
  for (let round = 0; round < 5; round += 1) {
    const failures = await Promise.all([0, 1, 2].map(() => failureOf(database.db.execute(sql`select 1`))));
    expect(failures.map(errorCode)).toEqual(['3D000', '3D000', '3D000']);
  }
});
