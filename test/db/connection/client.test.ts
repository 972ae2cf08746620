// The pool, its transactions, and the faults of the driver that they guard against. Random connection failures are in
// cuts.test.ts.
import { setImmediate as nextRound } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GivenUp, openDatabase, type Database, type Executor } from '../../../src/db/connection/client.ts';
import { errorCode, isUnavailable } from '../../../src/db/connection/database-errors.ts';
import { contexts } from '../../../src/db/schema/contexts.ts';
import { dense } from '../../../src/db/connection/connection.ts';
import { given, type Given } from '../database-fixture.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

/** Sends five hundred rows, then fails. */
const breaksInTheMiddle = 'select 1 / (500 - n) as x from generate_series(1, 1000) n';

describe('after a statement that failed in the middle of its result', () => {
  test('the driver itself answers the next one with holes, which the guard prevents', async () => {
    const bare = postgres(the.url, { max: 1 });
    await expect(bare.unsafe(breaksInTheMiddle)).rejects.toThrow(/division by zero/);
    const rows = await bare.unsafe('select 7 as x');
    expect(rows.length).toBeGreaterThan(1);
    expect(0 in rows).toBe(false);
    await bare.end();
  });

  test('the next statement on that connection gets its own rows and no others', async () => {
    const { db } = the.open({ max: 1 });
    await expect(db.execute(sql.raw(breaksInTheMiddle))).rejects.toThrow();
    expect([...(await db.execute(sql`select 7 as x`))]).toEqual([{ x: 7 }]);
    await expect(db.execute(sql.raw(breaksInTheMiddle))).rejects.toThrow();
    expect([...(await db.execute(sql`select 7 as x where false`))]).toEqual([]);
  });

  test('the next statement of the query builder gets its own rows', async () => {
    const { contextId } = await the.context();
    const { db } = the.open({ max: 1 });
    await expect(db.execute(sql.raw(breaksInTheMiddle))).rejects.toThrow();
    const found = await db.select({ id: contexts.id }).from(contexts);
    expect(found).toEqual([{ id: contextId }]);
  });

  test('the first statement of the next transaction gets its own rows', async () => {
    const pool = the.open({ max: 1 });
    await expect(pool.transaction((tx) => tx.execute(sql.raw(breaksInTheMiddle)))).rejects.toThrow();
    const rows = await pool.transaction((tx) => tx.execute(sql`select n from generate_series(1, 3) n`));
    expect([...rows]).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });
});

describe('a transaction whose caller has given up', () => {
  test('rejects at once, writes nothing, and the server ends its statement', async () => {
    const pool = the.open({ max: 1 });
    const { contextId } = await the.context();
    const gone = new AbortController();
    const given = pool.transaction(
      async (tx) => {
        await tx.execute(sql`set local client_connection_check_interval = 100`);
        await tx.execute(sql`update contexts set turn_count = 77 where id = ${contextId}`);
        await tx.execute(sql`select pg_sleep(60)`);
      },
      { signal: gone.signal },
    );
    const sleeping = sql`select 1 from pg_stat_activity where query = 'select pg_sleep(60)' and state = 'active'`;
    const { db } = the.open({ max: 1 });
    await expect.poll(async () => (await db.execute(sleeping)).length).toBe(1);
    gone.abort();
    await expect(given).rejects.toThrow(GivenUp);
    await expect.poll(async () => (await db.execute(sleeping)).length).toBe(0);
    const rows = await pool.transaction((tx) =>
      tx.execute<{ turn_count: number }>(sql`select turn_count from contexts where id = ${contextId}`),
    );
    expect(rows[0]?.turn_count).toBe(0);
  });

  test('does not begin, and sends no statement', async () => {
    const asked: string[] = [];
    const pool = the.open({ max: 1, hook: (text) => void asked.push(text) });
    const work = pool.transaction((tx) => tx.execute(sql`select 1`), { signal: AbortSignal.abort() });
    await expect(work).rejects.toThrow(GivenUp);
    expect(asked).toEqual(['begin']);
  });

  test('is not sent again on another connection, and its error reaches no caller where it had ended', async () => {
    const pool = the.open({ max: 1 });
    const gone = new AbortController();
    const ended = pool.transaction((tx) => tx.execute(sql`select 1 as x`), { signal: gone.signal });
    expect([...(await ended)]).toEqual([{ x: 1 }]);
    gone.abort();
    expect([...(await pool.db.execute(sql`select 2 as x`))]).toEqual([{ x: 2 }]);
  });
});

describe('rows without holes', () => {
  test('are left unchanged', () => {
    const rows = [1, 2, 3];
    expect(dense(rows)).toBe(rows);
    expect(dense([])).toEqual([]);
  });

  test('lose leading holes', () => {
    const rows: number[] = [];
    rows[3] = 7;
    expect(dense(rows)).toEqual([7]);
  });
});

describe('a transaction', () => {
  test('that throws leaves nothing behind, and the connection stays usable', async () => {
    const pool = the.open({ max: 1 });
    const { contextId } = await the.context();
    const work = pool.transaction(async (tx) => {
      await tx.execute(sql`update contexts set queued = 5 where id = ${contextId}`);
      throw new Error('no');
    });
    await expect(work).rejects.toThrow('no');
    expect(await the.row(contextId)).toMatchObject({ queued: 0 });
    expect([...(await pool.db.execute(sql`select 1 as one`))]).toEqual([{ one: 1 }]);
  });

  test('is watched from begin to commit', async () => {
    const statements: string[] = [];
    const pool = the.open({ max: 1, hook: (text) => void statements.push(text.trim()) });
    await pool.transaction(async (tx) => {
      await tx.execute(sql`select 1`);
      await tx.execute(sql`select 2`);
    });
    await pool.db.execute(sql`select 3`);
    expect(statements).toEqual(['begin', 'select 1', 'select 2', 'commit', 'select 3']);
  });

  test('whose hook fails before the commit is rolled back', async () => {
    const { contextId } = await the.context();
    const pool = the.open({
      max: 1,
      hook: (text) => {
        if (text === 'commit') throw new Error('cut');
      },
    });
    const work = pool.transaction((tx) => tx.execute(sql`update contexts set queued = 5 where id = ${contextId}`));
    await expect(work).rejects.toThrow('cut');
    expect(await the.row(contextId)).toMatchObject({ queued: 0 });
  });

  test('fails where a statement failed, even if its callback ignored the error', async () => {
    const { contextId } = await the.context();
    const pool = the.open({ max: 1 });
    const work = pool.transaction(async (tx) => {
      await tx.execute(sql`update contexts set queued = 5 where id = ${contextId}`);
      await tx.execute(sql`select 1 / 0`).catch(() => undefined);
    });
    await expect(work).rejects.toSatisfy((error) => errorCode(error) === '22012');
    expect(await the.row(contextId)).toMatchObject({ queued: 0 });
  });

  test('sends its statements in the order in which they were issued', async () => {
    const pool = the.open({ max: 1 });
    const numbers = await pool.transaction(async (tx) => {
      await tx.execute(sql`create temporary table turns (n int, at serial) on commit drop`);
      await Promise.all([3, 1, 2].map((n) => tx.execute(sql`insert into turns (n) values (${n}::int)`)));
      return tx.execute(sql`select n from turns order by at`);
    });
    expect([...numbers]).toEqual([{ n: 3 }, { n: 1 }, { n: 2 }]);
  });

  test('that has ended sends no more statements', async () => {
    const { contextId } = await the.context();
    const pool = the.open({ max: 1 });
    const late = await pool.transaction(
      async (tx) => () => tx.execute(sql`update contexts set queued = 5 where id = ${contextId}`),
    );
    await expect(late()).rejects.toThrow();
    expect(await the.row(contextId)).toMatchObject({ queued: 0 });
  });

  test('that ends with its last statement is committed in the same round trip, and sends nothing after it', async () => {
    const { contextId } = await the.context();
    const statements: string[] = [];
    const pool = the.open({ max: 1, hook: (text) => void statements.push(text.trim().slice(0, 6)) });
    const rows = await pool.transaction(async (tx, last) => {
      await tx.execute(sql`select 1`);
      const asked = await last.execute(sql`update contexts set queued = 5 where id = ${contextId} returning queued`);
      expect(await the.row(contextId)).toMatchObject({ queued: 5 });
      await expect(tx.execute(sql`select 2`)).rejects.toThrow();
      return asked;
    });
    expect([...rows]).toEqual([{ queued: 5 }]);
    expect(statements).toEqual(['begin', 'select', 'update', 'commit', 'select']);
    expect([...(await pool.db.execute(sql`select 1 as one`))]).toEqual([{ one: 1 }]);
  });

  test('with only a last statement begins, executes it and commits', async () => {
    const { contextId } = await the.context();
    const pool = the.open({ max: 1 });
    await pool.transaction((_, last) => last.execute(sql`update contexts set queued = 5 where id = ${contextId}`));
    expect(await the.row(contextId)).toMatchObject({ queued: 5 });
  });

  test('whose last statement fails is rolled back, and the connection stays usable', async () => {
    const { contextId } = await the.context();
    const pool = the.open({ max: 1 });
    const work = pool.transaction(async (tx, last) => {
      await tx.execute(sql`update contexts set queued = 5 where id = ${contextId}`);
      await last.execute(sql`select 1 / 0`);
    });
    await expect(work).rejects.toSatisfy((error) => errorCode(error) === '22012');
    expect(await the.row(contextId)).toMatchObject({ queued: 0 });
    expect([...(await pool.db.execute(sql`select 1 as one`))]).toEqual([{ one: 1 }]);
  });

  test('fails where an earlier statement failed, even if it ended with a last statement', async () => {
    const { contextId } = await the.context();
    const pool = the.open({ max: 1 });
    const work = pool.transaction(async (tx, last) => {
      await tx.execute(sql`update contexts set queued = 5 where id = ${contextId}`);
      await tx.execute(sql`select 1 / 0`).catch(() => undefined);
      await last.execute(sql`select 1`);
    });
    await expect(work).rejects.toThrow();
    expect(await the.row(contextId)).toMatchObject({ queued: 0 });
  });

  test('is cut before its last statement', async () => {
    const { contextId } = await the.context();
    const pool = the.open({
      max: 1,
      hook: (text) => {
        if (text === 'commit') throw new Error('cut');
      },
    });
    const work = pool.transaction(async (tx, last) => {
      await tx.execute(sql`select 1`);
      await last.execute(sql`update contexts set queued = 5 where id = ${contextId}`);
    });
    await expect(work).rejects.toThrow();
    expect(await the.row(contextId)).toMatchObject({ queued: 0 });
  });

  test('shares its connection with no other caller', async () => {
    const pool = the.open({ max: 1 });
    const order: string[] = [];
    const { promise: goOn, resolve: letGo } = Promise.withResolvers<void>();
    const work = pool.transaction(async (tx) => {
      await tx.execute(sql`select 1`);
      await goOn;
      await tx.execute(sql`select 1`);
      order.push('transaction');
    });
    const other = pool.db.execute(sql`select 1`).then(() => order.push('statement'));
    letGo();
    await Promise.all([work, other]);
    expect(order).toEqual(['transaction', 'statement']);
  });
});

describe('a pool', () => {
  const pid = sql`select pg_backend_pid() as pid`;

  test('keeps to one session as long as statements come one after the other', async () => {
    const pool = the.open({ max: 4 });
    await Promise.all([0, 1, 2, 3].map(() => pool.db.execute(pid)));
    const [first] = await pool.db.execute(pid);
    for (let round = 0; round < 5; round += 1) {
      expect([...(await pool.db.execute(pid))]).toEqual([first]);
      expect([...(await pool.transaction((tx) => tx.execute(pid)))]).toEqual([first]);
    }
  });

  test('keeps to it after a statement that Postgres refused', async () => {
    const pool = the.open({ max: 1 });
    const [first] = await pool.db.execute(pid);
    await expect(pool.db.execute(sql`select nothing`)).rejects.toThrow();
    await expect(pool.transaction((tx) => tx.execute(sql`select 1 / 0`))).rejects.toThrow();
    expect([...(await pool.db.execute(pid))]).toEqual([first]);
  });

  test.each([
    ['statements', (pool: Database) => pool.db.execute(pid)],
    ['transactions', (pool: Database) => pool.transaction((tx) => tx.execute(pid))],
  ])('serves %s waiting callers in the order of arrival', async (_, ask) => {
    const pool = the.open({ max: 1 });
    const order: number[] = [];
    const asked = [0, 1, 2, 3, 4].map(async (n) => {
      await ask(pool);
      order.push(n);
    });
    await Promise.all(asked);
    expect(order).toEqual([0, 1, 2, 3, 4]);
  });

  test('opens no more connections than its limit', async () => {
    const pool = the.open({ max: 3, name: 'three' });
    const rows = await Promise.all(Array.from({ length: 12 }, () => pool.db.execute<{ pid: number }>(pid)));
    expect(new Set(rows.map(([row]) => row?.pid)).size).toBeLessThanOrEqual(3);
    expect(await the.rows(`select 1 from pg_stat_activity where application_name = 'three'`)).toHaveLength(3);
  });

  test('that is busy for too long rejects the waiting callers, and serves later ones', async () => {
    const pool = the.open({ max: 1, silentMs: 4_000 });
    const { promise: goOn, resolve: letGo } = Promise.withResolvers<void>();
    const work = pool.transaction(async (tx) => {
      await tx.execute(sql`select 1`);
      await goOn;
    });
    const waiting = await pool.db.execute(sql`select 1`).catch((error: unknown) => error);
    expect([isUnavailable(waiting), errorCode(waiting)]).toEqual([true, 'CONNECT_TIMEOUT']);
    letGo();
    await work;
    expect([...(await pool.db.execute(sql`select 1 as one`))]).toEqual([{ one: 1 }]);
  });

  test('that is closed finishes earlier work, and accepts no more', async () => {
    const pool = the.open({ max: 1 });
    const asked = [1, 2, 3].map(async (n) => [...(await pool.db.execute(sql`select ${n}::int as n`))]);
    await nextRound();
    const closed = pool.close();
    expect(await Promise.all(asked)).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]]);
    await closed;
    const codes = [pool.db.execute(sql`select 1`), pool.transaction(async () => undefined)].map((late) =>
      late.then(String, errorCode),
    );
    expect(await Promise.all(codes)).toEqual(['CONNECTION_ENDED', 'CONNECTION_ENDED']);
  });

  test('that is closed waits no longer than its timeout', async () => {
    const pool = the.open({ max: 1, name: 'closing' });
    const asked = [0, 1].map(() => pool.db.execute(sql`select pg_sleep(60)`).then(String, errorCode));
    await nextRound();
    await pool.close(0.1);
    expect(await Promise.all(asked)).toEqual(['CONNECTION_DESTROYED', 'CONNECTION_DESTROYED']);
  });
});

describe('a connection that is cut', () => {
  const kill = async (name: string) => {
    await the.rows(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = '${name}'`);
  };

  test('under a read is not noticed: the read is sent again', async () => {
    const pool = the.open({ max: 1, name: 'cut-read' });
    for (let round = 0; round < 10; round += 1) {
      await pool.db.execute(sql`select 1`);
      await kill('cut-read');
      const read = round % 2 === 0 ? sql`select ${round}::int as n` : sql`/* a.tag */ select ${round}::int as n`;
      expect([...(await pool.db.execute(read))]).toEqual([{ n: round }]);
    }
  });

  test('under the begin of a transaction is not noticed either, and its work is done once', async () => {
    const pool = the.open({ max: 1, name: 'cut-begin' });
    for (let round = 0; round < 10; round += 1) {
      await pool.db.execute(sql`select 1`);
      await kill('cut-begin');
      let runs = 0;
      await pool.transaction(async (tx) => {
        runs += 1;
        await tx.execute(sql`select 1`);
      });
      expect(runs).toBe(1);
    }
  });

  /** Until the server has released it: by then it has sent its notice. */
  const gone = async (name: string) => {
    const left = `select 1 from pg_stat_activity where application_name = '${name}'`;
    while ((await the.rows(left)).length > 0);
  };

  const cutAt = async (name: string, cut: (tx: Executor) => Promise<unknown>) => {
    const pool = the.open({ max: 1, name });
    let runs = 0;
    const work = pool.transaction(async (tx) => {
      runs += 1;
      await tx.execute(sql`select 1`);
      await cut(tx);
    });
    // Waits for the only connection, and gets a new one when the transaction has ended.
    const waiting = pool.db.execute(sql`select 1 as one`);
    await expect(work).rejects.toSatisfy(isUnavailable);
    expect([...(await waiting)]).toEqual([{ one: 1 }]);
    expect(runs).toBe(1);
  };

  test('in an idle transaction fails its next statement, which is never sent outside of it', async () => {
    const { contextId } = await the.context();
    await cutAt('cut-rest', async (tx) => {
      await kill('cut-rest');
      await gone('cut-rest');
      await tx.execute(sql`update contexts set queued = 9 where id = ${contextId}`);
    });
    expect(await the.row(contextId)).toMatchObject({ queued: 0 });
  });

  test('under a statement of a transaction fails it, and nothing of it is committed', async () => {
    const { contextId } = await the.context();
    await cutAt('cut-statement', async (tx) => {
      await tx.execute(sql`update contexts set queued = 9 where id = ${contextId}`);
      const sleeping = tx.execute(sql`select pg_sleep(60)`);
      await kill('cut-statement');
      await sleeping;
    });
    expect(await the.row(contextId)).toMatchObject({ queued: 0 });
  });

  test('before the commit of a transaction fails it', async () => {
    await cutAt('cut-commit', async () => {
      await kill('cut-commit');
      await gone('cut-commit');
    });
  });

  test('while a transaction fails for another reason is the reported failure', async () => {
    await cutAt('cut-failure', async () => {
      await kill('cut-failure');
      await gone('cut-failure');
      throw new Error('of its own');
    });
  });

  test('under a write is never sent again: the error is that Postgres was unavailable', async () => {
    const { contextId } = await the.context();
    let armed = false;
    const pool = the.open({
      max: 1,
      name: 'cut-write',
      hook: async () => {
        if (armed) await kill('cut-write');
      },
    });
    await pool.db.execute(sql`select 1`);
    armed = true;
    const outcome = await pool.db
      .execute(sql`update contexts set queued = queued + 1 where id = ${contextId}`)
      .then(() => 1)
      .catch((error: unknown) => (isUnavailable(error) ? 0 : 'another error'));
    expect(await the.row(contextId)).toMatchObject({ queued: outcome });
  });

  test('of several hosts the one that answers is used from then on', async () => {
    const { host } = new URL(the.url);
    const pool = openDatabase(the.url.replace(host, `127.0.0.1:1,${host}`), { max: 1 });
    await expect(pool.db.execute(sql`select 1`)).rejects.toSatisfy(isUnavailable);
    for (let round = 0; round < 2; round += 1) {
      expect([...(await pool.db.execute(sql`select 1 as one`))]).toEqual([{ one: 1 }]);
    }
    await pool.close();
  });

  test('a missing server is unavailable', async () => {
    const pool = the.open({ max: 1 });
    const nowhere = new URL(the.url);
    nowhere.port = '1';
    const away = openDatabase(nowhere.href, { max: 1 });
    const error = await away.db.execute(sql`select 1`).catch((cause: unknown) => cause);
    expect(isUnavailable(error)).toBe(true);
    await away.close(0);
    const wrong = await pool.db.execute(sql`select nothing`).catch((cause: unknown) => cause);
    expect([isUnavailable(wrong), errorCode(wrong)]).toEqual([false, '42703']);
    expect(errorCode('text')).toBe('');
  });
});
