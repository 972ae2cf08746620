// What PostgreSQL holds for one call of a transactional tool: its limits, its locks, and nothing of an earlier call.
import { expect, test, vi } from 'vitest';
import { DATABASE_SCHEMA } from '../../../src/core/database-schema.ts';
import { DEFAULT_TENANT_NAME } from '../../../src/core/ids.ts';
import { Connection } from '../../../src/db/connection/connection.ts';
import { terminateFrozenSessions } from '../../../src/db/processes/frozen-sessions.ts';
import { addGrant } from '../../../src/db/submissions/grants.ts';
import { TRANSACTIONS } from '../../../src/db/tool-transactions/settlements.ts';
import { ToolSession } from '../../../src/db/tool-transactions/tool-session.ts';
import { transcript } from '../../workers/worker-fleet.ts';
import { bookings, shopOfFile, writeBooking } from '../../workers/run/transacting.ts';

const { shop, booking } = shopOfFile();

test('a tool that pauses is no frozen process: a sweep under the same login lets it go on', async () => {
  let runs = 0;
  const isIdle = `select 1 from pg_stat_activity where datname = current_database() and state = 'idle in transaction'
    and backend_xid is not null and state_change < clock_timestamp() - interval '1200 milliseconds'`;
  const of = await booking(
    async (context) => {
      runs += 1;
      const note = await writeBooking(context);
      await of.until(async () => (await of.query(isIdle)).length > 0);
      await terminateFrozenSessions(of.database.db);
      return note;
    },
    {},
    { ...shop(), toolUrl: '' },
  );
  const { jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(runs).toBe(1);
  expect(await bookings(of)).toEqual(['booked']);
});

test('the limits and the isolation of a transaction are its own', async () => {
  const seen = Promise.withResolvers<unknown>();
  await shop().database.db.execute(`alter role ${shop().role} set default_transaction_isolation = 'serializable'`);
  const of = await booking(
    async ({ tx }) => {
      const { rows } = await tx.query(`select current_setting('statement_timeout') as statement,
        current_setting('idle_in_transaction_session_timeout') as pause,
        current_setting('transaction_isolation') as isolation, current_setting('application_name') as name`);
      seen.resolve(rows);
      return 'ok';
    },
    { timeoutMs: 300_000 },
  );
  const { jobId } = await of.begin('go');
  expect(await seen.promise).toEqual([
    { statement: '5min', pause: '1min', isolation: 'read committed', name: 'tools-of-nightshift' },
  ]);
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  await shop().database.db.execute(`alter role ${shop().role} reset default_transaction_isolation`);
});

test('deferred constraints are checked before the rows of the context and the call are locked', async () => {
  const of = await booking((context) => writeBooking(context));
  await of.query(`create function public.note_query() returns trigger language plpgsql as $$
    begin update public.bookings set note = current_query() where id = new.id; return null; end $$`);
  await of.query(`create constraint trigger note_query after insert on public.bookings deferrable initially deferred
    for each row execute function public.note_query()`);
  const { jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(await bookings(of)).toEqual(['set constraints all immediate']);
  await of.query('drop function public.note_query() cascade');
});

test('a call finds nothing that an earlier one has set on its connection', async () => {
  const other = `${shop().role}_other`;
  await shop().database.db.execute(`create role ${other}`);
  await shop().database.db.execute(`grant ${other} to ${shop().role}`);
  await shop().database.transaction((tx) =>
    addGrant(tx, DATABASE_SCHEMA, { role: other, tenant: DEFAULT_TENANT_NAME }),
  );
  const look = `select pg_backend_pid() as pid, current_user::text as role, coalesce(current_setting('app.tenant', true), '') as tenant,
    to_regclass('pg_temp.mine')::text as "table", current_setting('statement_timeout') as limit,
    (select count(*)::int from pg_cursors where name = 'kept') as cursors,
    (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid() and objid = 77) as locks`;
  const seen: unknown[] = [];
  const of = await booking(
    async ({ tx }) => {
      const { rows } = await tx.query(look);
      seen.push(rows[0]);
      for (const text of [
        "set app.tenant = 'acme'",
        "set statement_timeout = '50s'",
        'create temp table mine (a int)',
        'select pg_advisory_lock(77)',
        'declare kept cursor with hold for select 1',
        `set role ${other}`,
      ])
        await tx.query(text);
      return 'ok';
    },
    { timeoutMs: 40_000 },
  );
  for (const text of ['one', 'two']) {
    const { jobId } = await of.begin(text);
    expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  }
  expect(seen).toHaveLength(2);
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[0]).toMatchObject({ role: shop().role, tenant: '', table: null, limit: '40s', cursors: 0, locks: 0 });
  await shop().database.db.execute(`drop owned by ${other}`);
  await shop().database.db.execute(`drop role ${other}`);
});

test('a statement that the driver cannot send fails the call at once', async () => {
  let runs = 0;
  const of = await booking(async ({ tx }) => {
    runs += 1;
    await tx.query(
      'select 1',
      Array.from({ length: 70_000 }, () => 1),
    );
    return 'ok';
  });
  const { contextId, jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(runs).toBe(1);
  expect(transcript(await of.history(contextId)).join()).toContain('The tool book failed');
});

test('a begin that PostgreSQL does not answer loses its connection', async () => {
  const limits = { idleInTransaction: 0, unread: 0, lock: 0 };
  const connection = new Connection({
    url: shop().toolUrl,
    schema: null,
    values: 'plain',
    name: 'tools-of-nightshift',
    silentMs: 60_000,
    turn: { host: 0 },
    limits,
  });
  await connection.ask('select 1');
  const session = new ToolSession(connection, DATABASE_SCHEMA);
  await shop().database.transaction(async (tx) => {
    await tx.execute(`select pg_advisory_xact_lock(${TRANSACTIONS}, ${session.lock})`);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const begun = session.begin(60_000);
    vi.advanceTimersByTime(14_999);
    expect(connection.lost).toBeNull();
    vi.advanceTimersByTime(1);
    vi.useRealTimers();
    await expect(begun).rejects.toMatchObject({ code: 'ECONNRESET', message: expect.stringContaining('15000 ms') });
    expect(connection.lost).not.toBeNull();
  });
});
