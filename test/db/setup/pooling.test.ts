// Which poolers are recognised, and what is refused of them: a real PgBouncer in each of its modes.
import { sql } from 'drizzle-orm';
import { afterEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/db/connection/client.ts';
import { errorText, isUnavailable, wasCut } from '../../../src/db/connection/database-errors.ts';
import { migrate } from '../../../src/db/setup/migrate.ts';
import { examinePooling, type PoolingState } from '../../../src/db/setup/unfit-pooling.ts';
import { connected, rowsOf } from '../../services/connected.ts';
import { createEmptyDatabase, createTestDatabase } from '../../services/database.ts';
import { DOCUMENTED_INI, pgBouncerMissing, startPgBouncer, type PgBouncer } from '../../services/pgbouncer.ts';

const MISSING = await pgBouncerMissing();
const LIMITS = { idleInTransaction: 1_000, unread: 5_000 };

const opened: { drop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.drop();
});

async function database(): Promise<string> {
  const made = await createTestDatabase();
  opened.push(made);
  return made.url;
}

/** `change`: of a line of the documented file. */
async function bouncer(server: string, ...change: [line: string | RegExp, to: string][]): Promise<PgBouncer> {
  const ini = change.reduce((text, [line, to]) => text.replace(line, to), DOCUMENTED_INI);
  if (change.length > 0) expect(ini).not.toBe(DOCUMENTED_INI);
  const started = await startPgBouncer(ini, server, [server]);
  opened.push({ drop: () => started.remove() });
  return started;
}

/** `direct` null: there is no other URL. */
async function examined(pooledUrl: string, direct: string | null): Promise<PoolingState> {
  const pooled = { name: 'DATABASE_URL', url: pooledUrl };
  const other = direct === null ? pooled : { name: 'NIGHTSHIFT_DIRECT_DATABASE_URL', url: direct };
  return examinePooling({ pooled, direct: other, schema: 'nightshift', limits: LIMITS });
}

test('the server itself has no pooler', async () => {
  const url = await database();
  expect(await examined(url, null)).toEqual({ pooling: 'direct', problem: null, ignored: [] });
});

test('a connection that PgBouncer ends was cut, and a message that PostgreSQL finds wrong does not cut it', () => {
  const ended = (fields: object): Error => Object.assign(new Error('query_wait_timeout'), { code: '08P01', ...fields });
  expect(wasCut(ended({ severity_local: 'FATAL' }))).toBe(true);
  expect(wasCut(ended({ severity_local: 'FATAL', severity: 'FATAL' }))).toBe(true);
  expect(wasCut(ended({ severity_local: 'FEHLER', severity: 'ERROR' }))).toBe(false);
  expect(errorText(ended({}))).toBe('08P01: query_wait_timeout');
});

test('one database is the same through logins with time zones of their own', async () => {
  const url = await database();
  const elsewhere = new URL(url);
  elsewhere.searchParams.set('timezone', 'Asia/Tokyo');
  expect((await examined(url, elsewhere.href)).problem).toBeNull();
});

test('a direct URL that leads to another database is refused', async () => {
  const [ours, other] = [await database(), await createEmptyDatabase()];
  opened.push(other);
  expect((await examined(ours, other.url)).problem).toMatchObject({
    fault: 'another_database',
    reason: 'NIGHTSHIFT_DIRECT_DATABASE_URL leads to another database than DATABASE_URL.',
  });
});

describe.skipIf(MISSING !== null)(`PgBouncer${MISSING === null ? '' : ` (skipped: ${MISSING})`}`, () => {
  test('as documented it pools transactions, and is fit beside a direct URL', async () => {
    const server = await database();
    const pooled = (await bouncer(server)).urlOf('nightshift', server);
    expect(await examined(pooled, server)).toEqual({ pooling: 'transaction', problem: null, ignored: [] });
    expect((await examined(pooled, null)).problem).toEqual({
      fault: 'session_needed',
      reason:
        'DATABASE_URL leads to a pooler that pools transactions. Heartbeats and migrations need a session of their own.',
      advice: expect.stringContaining('Set NIGHTSHIFT_DIRECT_DATABASE_URL'),
    });
    // For API processes, which have another limit.
    const api = { name: 'NIGHTSHIFT_API_DATABASE_URL', url: pooled };
    const limits = { ...LIMITS, lock: 300 };
    expect(await examinePooling({ pooled: api, direct: null, schema: 'nightshift', limits })).toEqual({
      pooling: 'transaction',
      problem: null,
      ignored: ['lock_timeout = 300'],
    });
  });

  test('with one session for all, and with one that is used in turn, it is recognised too', async () => {
    const server = await database();
    for (const size of ['default_pool_size = 1', 'default_pool_size = 4\nserver_round_robin = 1']) {
      const pooled = (await bouncer(server, [/default_pool_size = .*/, size])).urlOf('nightshift', server);
      expect([size, (await examined(pooled, server)).pooling]).toEqual([size, 'transaction']);
    }
  });

  test('a direct URL that leads to it as well is refused', async () => {
    const server = await database();
    const [one, two] = [await bouncer(server), await bouncer(server)].map((one) => one.urlOf('nightshift', server));
    expect((await examined(one ?? '', two ?? '')).problem).toMatchObject({
      fault: 'session_needed',
      reason: expect.stringContaining('NIGHTSHIFT_DIRECT_DATABASE_URL leads to a pooler'),
    });
  });

  test('in session mode it needs no direct URL', async () => {
    const server = await database();
    // As for a login: PgBouncer resets a session to it, and what connect_query has set is lost.
    const { pathname } = new URL(server);
    await rowsOf(server, `alter database "${pathname.slice(1)}" set search_path = nightshift`);
    await rowsOf(server, `alter database "${pathname.slice(1)}" set idle_in_transaction_session_timeout = 1000`);
    const session = await bouncer(server, [/pool_mode = .*/, 'pool_mode = session'], [/connect_query='.*'/g, '']);
    const pooled = session.urlOf('nightshift', server);
    expect(await examined(pooled, null)).toEqual({ pooling: 'session', problem: null, ignored: [] });
    expect(await migrate(pooled)).toEqual([]);
    // Again, in sessions that others had before.
    expect(await migrate(pooled)).toEqual([]);
  });

  test('in session mode without the schema nothing is migrated, not even into another schema', async () => {
    const empty = await createEmptyDatabase();
    opened.push(empty);
    const ignoring = await bouncer(
      empty.url,
      ['pool_mode = transaction', 'pool_mode = session'],
      [/connect_query='.*'/g, ''],
    );
    const pooled = ignoring.urlOf('nightshift', empty.url);
    await expect(migrate(pooled)).rejects.toMatchObject({
      name: 'DatabaseRefused',
      message: expect.stringMatching(/^The URL of the database leads to a pooler that ignores search_path.*ignored\)$/),
    });
    expect(await rowsOf(empty.url, "select 1 from pg_tables where schemaname !~ '^(pg_|information)'")).toEqual([]);
    const server = await database();
    const session = await bouncer(server, [/pool_mode = .*/, 'pool_mode = session'], [/connect_query='.*'/g, '']);
    expect((await examined(server, session.urlOf('nightshift', server))).problem).toMatchObject({
      fault: 'search_path_ignored',
      reason: expect.stringMatching(/^NIGHTSHIFT_DIRECT_DATABASE_URL leads to/),
    });
  });

  test.each([
    ['statement_pooling', ['pool_mode = transaction', 'pool_mode = statement'], 'Set pool_mode = transaction.'],
    [
      'no_prepared_statements',
      [/max_prepared_statements = .*/, 'max_prepared_statements = 0'],
      'Use PgBouncer 1.21 or newer, and set max_prepared_statements = 1000.',
    ],
    ['search_path_ignored', [/connect_query='.*'/, ''], 'alter role … set search_path = nightshift.'],
    ['startup_parameter_refused', [/ignore_startup_parameters = .*/, ''], 'Add it to ignore_startup_parameters.'],
  ] as const)('%s is refused', async (fault, change, advice) => {
    const server = await database();
    const pooled = (await bouncer(server, [...change])).urlOf('nightshift', server);
    const { problem } = await examined(pooled, server);
    expect(problem).toMatchObject({ fault, advice: expect.stringContaining(advice) });
    expect(problem?.reason).toMatch(/^DATABASE_URL leads to a pooler that /);
    expect(problem?.advice).toMatch(/ See docs\/deploy\.md, PgBouncer\.$/);
  });

  test('a process that gets no session in time finds the database unavailable', async () => {
    const server = await database();
    const few = [/default_pool_size = .*/, 'default_pool_size = 1\nquery_wait_timeout = 1'] as const;
    const url = (await bouncer(server, [...few])).urlOf('nightshift', server);
    const [holder, waiter] = [openDatabase(url, { max: 1 }), openDatabase(url, { max: 1 })];
    opened.push({ drop: async () => void (await Promise.all([holder.close(), waiter.close()])) });
    await connected(server, async (direct) => {
      await direct`select pg_advisory_lock(18)`;
      // `then` sends it.
      const held = holder.db.execute(sql`select pg_advisory_xact_lock(18)`).then(() => undefined);
      await expect
        .poll(() => direct`select 1 from pg_locks where locktype = 'advisory' and objid = 18 and not granted`)
        .toHaveLength(1);
      const refused: unknown = await waiter.db.execute(sql`select 1`).catch((error: unknown) => error);
      expect(isUnavailable(refused), errorText(refused)).toBe(true);
      await direct`select pg_advisory_unlock(18)`;
      await held;
    });
    expect([...(await waiter.db.execute(sql`select 1 as one`))]).toEqual([{ one: 1 }]);
  });

  test('a pooler that has no session for transactions is unavailable, and does not count as one that pools statements', async () => {
    const server = await database();
    // One session, which a transaction of another client holds.
    const busy = await bouncer(server, [/default_pool_size = .*/, 'default_pool_size = 1\nquery_wait_timeout = 1']);
    const url = busy.urlOf('nightshift', server);
    const holder = openDatabase(url, { max: 1 });
    opened.push({ drop: () => holder.close() });
    await holder.transaction(async (tx) => {
      await tx.execute(sql`set local idle_in_transaction_session_timeout = 0`);
      const refused: unknown = await examined(url, server).catch((error: unknown) => error);
      expect(refused).toMatchObject({ name: 'UrlUnavailable', variable: 'DATABASE_URL' });
      expect(isUnavailable(refused), errorText(refused)).toBe(true);
    });
    expect((await examined(url, server)).pooling).toBe('transaction');
  });

  test('the server ends the session of a frozen process, and frees its locks', async () => {
    const server = await database();
    const url = (await bouncer(server)).urlOf('nightshift', server);
    const frozen = openDatabase(url, { max: 1, limits: LIMITS });
    opened.push({ drop: () => frozen.close() });
    const work = frozen.transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(17)`);
      // Granted once the session of the first one has ended: nothing else releases the lock.
      await rowsOf(server, 'select pg_advisory_lock(17)');
      await tx.execute(sql`select 1`);
    });
    const ended: unknown = await work.catch((error: unknown) => error);
    expect(wasCut(ended)).toBe(true);
    expect([...(await frozen.db.execute(sql`select 1 as one`))]).toEqual([{ one: 1 }]);
  });

  test('a migration that would lock a shared session is refused, and changes nothing', async () => {
    const empty = await createEmptyDatabase();
    opened.push(empty);
    const pooled = (await bouncer(empty.url)).urlOf('nightshift', empty.url);
    await expect(migrate(pooled)).rejects.toMatchObject({
      name: 'DatabaseRefused',
      message: expect.stringMatching(/pools transactions\. .*\(session_needed\)$/),
    });
    expect(await migrate(empty.url)).not.toEqual([]);
    const refusing = await bouncer(empty.url, [/ignore_startup_parameters = .*/, '']);
    await expect(migrate(refusing.urlOf('nightshift', empty.url))).rejects.toMatchObject({
      name: 'DatabaseRefused',
      message: expect.stringContaining('refuses the startup parameter search_path'),
    });
  });
});
