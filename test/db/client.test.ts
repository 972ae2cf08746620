// The guard around every statement, and the faults of the driver that it forbids.
import { sql } from 'drizzle-orm';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dense, errorCode, isUnavailable } from '../../src/db/client.ts';
import type { Executor } from '../../src/db/client.ts';
import { given } from './given.ts';
import type { Given } from './given.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

/** Sends five hundred rows, then fails. */
const breaksInTheMiddle = 'select 1 / (500 - n) as x from generate_series(1, 1000) n';

describe('after a statement that failed in the middle of its result', () => {
  test('the driver itself answers the next one with holes: without the guard this is what one would read', async () => {
    const bare = postgres(the.url, { max: 1 });
    await expect(bare.unsafe(breaksInTheMiddle)).rejects.toThrow(/division by zero/);
    const rows = await bare.unsafe('select 7 as x');
    expect(rows.length).toBeGreaterThan(1);
    expect(0 in rows).toBe(false);
    await bare.end();
  });

  test('the next statement on that connection has its own rows and no others', async () => {
    const { db } = the.open({ max: 1 });
    await expect(db.execute(sql.raw(breaksInTheMiddle))).rejects.toThrow();
    expect([...(await db.execute(sql`select 7 as x`))]).toEqual([{ x: 7 }]);
    await expect(db.execute(sql.raw(breaksInTheMiddle))).rejects.toThrow();
    expect([...(await db.execute(sql`select 7 as x where false`))]).toEqual([]);
  });

  test('so has one that the builder made', async () => {
    const { contextId } = await the.context();
    const { db } = the.open({ max: 1 });
    await expect(db.execute(sql.raw(breaksInTheMiddle))).rejects.toThrow();
    const found = await db.query.contexts.findMany({ columns: { id: true } });
    expect(found).toEqual([{ id: contextId }]);
  });

  test('so has the first of the next transaction', async () => {
    const pool = the.open({ max: 1 });
    await expect(pool.transaction((tx) => tx.execute(sql.raw(breaksInTheMiddle)))).rejects.toThrow();
    const rows = await pool.transaction((tx) => tx.execute(sql`select n from generate_series(1, 3) n`));
    expect([...rows]).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });
});

describe('rows without holes', () => {
  test('are left as they are', () => {
    const rows = [1, 2, 3];
    expect(dense(rows)).toBe(rows);
    expect(dense([])).toEqual([]);
  });

  test('those in front are dropped', () => {
    const rows: number[] = [];
    rows[3] = 7;
    expect(dense(rows)).toEqual([7]);
  });
});

describe('a transaction', () => {
  test('that throws leaves nothing behind, and the connection is good', async () => {
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

  test('is watched from its beginning to its commit', async () => {
    const heard: string[] = [];
    const pool = the.open({ max: 1, hook: (text) => void heard.push(text.trim()) });
    await pool.transaction(async (tx) => {
      await tx.execute(sql`select 1`);
      await tx.execute(sql`select 2`);
    });
    await pool.db.execute(sql`select 3`);
    expect(heard).toEqual(['begin', 'select 1', 'select 2', 'commit', 'select 3']);
  });

  test('that its hook breaks before the commit is rolled back', async () => {
    const { contextId } = await the.context();
    const pool = the.open({
      max: 1,
      hook: (text) => {
        if (text === 'commit') throw new Error('cut');
      },
    });
    const work = pool.transaction((tx) =>
      tx.execute(sql`update contexts set queued = 5 where id = ${contextId}`),
    );
    await expect(work).rejects.toThrow('cut');
    expect(await the.row(contextId)).toMatchObject({ queued: 0 });
  });
});

describe('a connection that is cut', () => {
  const kill = async (name: string) => {
    await the.rows(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = '${name}'`,
    );
  };

  test('under a read is not noticed: it is asked again', async () => {
    const pool = the.open({ max: 1, name: 'cut-read' });
    for (let round = 0; round < 10; round += 1) {
      await pool.db.execute(sql`select 1`);
      await kill('cut-read');
      expect([...(await pool.db.execute(sql`select ${round}::int as n`))]).toEqual([{ n: round }]);
    }
  });

  test('under the beginning of a transaction is not noticed either, and its work is done once', async () => {
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

  const cutAt = async (name: string, cut: (tx: Executor) => Promise<unknown>) => {
    const pool = the.open({ max: 1, name });
    let runs = 0;
    const work = pool.transaction(async (tx) => {
      runs += 1;
      await tx.execute(sql`select 1`);
      await cut(tx);
    });
    // Waits for the only connection, which is opened anew for it as soon as it is closed.
    const waiting = pool.db.execute(sql`select 1 as one`);
    await expect(work).rejects.toSatisfy(isUnavailable);
    expect([...(await waiting)]).toEqual([{ one: 1 }]);
    expect(runs).toBe(1);
  };

  test('while a transaction rests fails its next statement, which is never sent outside of it', async () => {
    const { contextId } = await the.context();
    await cutAt('cut-rest', async (tx) => {
      await kill('cut-rest');
      await the.rows('select pg_sleep(0.1)');
      await tx.execute(sql`update contexts set queued = 9 where id = ${contextId}`);
    });
    expect(await the.row(contextId)).toMatchObject({ queued: 0 });
  });

  test('under a statement of a transaction fails it, and nothing that came before is kept', async () => {
    const { contextId } = await the.context();
    await cutAt('cut-statement', async (tx) => {
      await tx.execute(sql`update contexts set queued = 9 where id = ${contextId}`);
      const sleeping = tx.execute(sql`select pg_sleep(5)`);
      await kill('cut-statement');
      await sleeping;
    });
    expect(await the.row(contextId)).toMatchObject({ queued: 0 });
  });

  test('before the commit of a transaction fails it', async () => {
    await cutAt('cut-commit', async () => {
      await kill('cut-commit');
      await the.rows('select pg_sleep(0.1)');
    });
  });

  test('while a transaction is about to fail by itself is the failure that is told', async () => {
    await cutAt('cut-failure', async () => {
      await kill('cut-failure');
      await the.rows('select pg_sleep(0.1)');
      throw new Error('of its own');
    });
  });

  test('under a write is never sent again: it says that Postgres was away', async () => {
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

  test('a server that is not there is unavailable', async () => {
    const pool = the.open({ max: 1 });
    const nowhere = new URL(the.url);
    nowhere.port = '1';
    const { openDatabase } = await import('../../src/db/client.ts');
    const away = openDatabase(nowhere.href, { max: 1 });
    const error = await away.db.execute(sql`select 1`).catch((cause: unknown) => cause);
    expect(isUnavailable(error)).toBe(true);
    await away.close(0);
    const wrong = await pool.db.execute(sql`select nothing`).catch((cause: unknown) => cause);
    expect([isUnavailable(wrong), errorCode(wrong)]).toEqual([false, '42703']);
    expect(errorCode('text')).toBe('');
  });
});
