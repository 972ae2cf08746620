// Transactional tools in a running process: the rows of the tool and the result of its call are committed together, once.
import { expect, test } from 'vitest';
import { DEFAULT_TENANT, type ContextId } from '../../../src/core/ids.ts';
import { SETTLE_STATES, TRANSACTIONS } from '../../../src/db/tool-transactions/settlements.ts';
import type { ToolDatabase } from '../../../src/db/tool-transactions/tool-database.ts';
import { ToolError } from '../../../src/index.ts';
import { tagOf } from '../../services/statements.ts';
import { aborted, transcript, type Fleet } from '../worker-fleet.ts';
import { loseLease } from './stepping.ts';
import { bookings, inCommit, ledger, shopOfFile, writeBooking, type Book } from './transacting.ts';

const { shop, booking } = shopOfFile();

const ONCE = [{ number: 1, outcome: 'completed' }];

const resultsOf = async (of: Fleet, contextId: ContextId): Promise<string[]> =>
  transcript(await of.history(contextId)).filter((line) => line.includes('tool:'));

test('the rows of the tool and the result of its call are committed together', async () => {
  const of = await booking((context) => writeBooking(context));
  const { contextId, jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(await bookings(of)).toEqual(['booked']);
  expect(await resultsOf(of, contextId)).toEqual(['a1 tool: ←booked']);
  expect(await ledger(of)).toEqual(ONCE);
  expect(await of.query('select status, effect, reply from tool_calls')).toEqual([
    { status: 'completed', effect: 'idempotent', reply: null },
  ]);
});

test.each<[string, Book, string]>([
  [
    'throws',
    async (context) => {
      await writeBooking(context);
      throw new ToolError('It is full.', { code: 'full' });
    },
    '{"error":{"code":"full","message":"It is full."}}',
  ],
  [
    'returns an error',
    async (context) => {
      await writeBooking(context);
      return { content: 'It is full.', is_error: true };
    },
    'It is full.',
  ],
])('a tool that %s is rolled back, and the model reads why', async (_, book, text) => {
  const of = await booking(book);
  const { contextId, jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(await bookings(of)).toEqual([]);
  expect(await resultsOf(of, contextId)).toEqual([`a1 tool: ←${text}`]);
  expect(await ledger(of)).toEqual([{ number: 1, outcome: 'failed' }]);
});

test('after a lost lease the transaction is rolled back, and the call runs again elsewhere', async () => {
  const begun: string[] = [];
  const of = await booking(
    async (context) => {
      begun.push(context.tool_call_id);
      const note = await writeBooking(context, `try ${begun.length}`);
      // This execution may no longer settle the call, also if the same process claims the context again.
      if (begun.length === 1) await loseLease(of, context.context_id as ContextId);
      return note;
    },
    { processes: 2 },
  );
  const { contextId, jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(await bookings(of)).toEqual(['try 2']);
  expect(await resultsOf(of, contextId)).toEqual(['a1 tool: ←try 2']);
  expect(begun).toHaveLength(2);
  expect(new Set(begun).size).toBe(1);
  expect(await ledger(of)).toEqual(ONCE);
});

test('a call that has settled does not run again in the process that goes on', async () => {
  let runs = 0;
  let isLost = false;
  const of = await booking(
    (context) => {
      runs += 1;
      return writeBooking(context);
    },
    {
      hook: async (text) => {
        if (isLost || runs === 0 || tagOf(text) !== 'contexts.append') return;
        isLost = true;
        const [row] = await of.query('select id from contexts');
        await loseLease(of, String(row?.['id']) as ContextId);
      },
    },
  );
  const { contextId, jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(isLost).toBe(true);
  expect(runs).toBe(1);
  expect(await bookings(of)).toEqual(['booked']);
  expect(await resultsOf(of, contextId)).toEqual(['a1 tool: ←booked']);
  expect(await ledger(of)).toEqual(ONCE);
});

test('a cancelled job rolls the transaction back', async () => {
  const began = Promise.withResolvers<void>();
  const of = await booking(async (context) => {
    await writeBooking(context);
    began.resolve();
    await aborted(context.signal);
    return 'late';
  });
  const { jobId } = await of.begin('go');
  await began.promise;
  await of.cancel(jobId);
  expect(await of.ended(jobId)).toMatchObject({ status: 'cancelled' });
  expect(await bookings(of)).toEqual([]);
  expect(await of.query('select status, reply from tool_calls')).toEqual([{ status: 'cancelled', reply: null }]);
});

test('a job that is cancelled after the commit keeps the result of the call', async () => {
  let isCancelled = false;
  const of = await booking((context) => writeBooking(context), {
    between: (tools): ToolDatabase => ({
      ...tools,
      async attempt(call, ...more) {
        const attempted = await tools.attempt(call, ...more);
        if (!isCancelled) await of.cancel(call.jobId);
        isCancelled = true;
        return attempted;
      },
    }),
  });
  const { contextId, jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'cancelled' });
  expect(await bookings(of)).toEqual(['booked']);
  expect(await resultsOf(of, contextId)).toEqual(['a1 tool: ←booked']);
  expect(await of.query('select status from tool_calls')).toEqual([{ status: 'completed' }]);
});

test('a commit whose answer is lost is read first, and the tool does not run again', async () => {
  let runs = 0;
  const of = await booking(
    (context) => {
      runs += 1;
      return writeBooking(context);
    },
    {
      between: (tools): ToolDatabase => ({
        ...tools,
        async attempt(...given) {
          const attempted = await tools.attempt(...given);
          expect(attempted.kind).toBe('committed');
          return { kind: 'in_doubt', lock: 1 };
        },
      }),
    },
  );
  const { contextId, jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(runs).toBe(1);
  expect(await bookings(of)).toEqual(['booked']);
  expect(await resultsOf(of, contextId)).toEqual(['a1 tool: ←booked']);
  expect(await ledger(of)).toEqual(ONCE);
});

test('a connection that is lost during the commit: what the commit became decides', async () => {
  let runs = 0;
  const of = await booking((context) => writeBooking(context, `try ${(runs += 1)}`));
  await of.query(`create function public.slowly() returns trigger language plpgsql as $$
    begin if new.note = 'try 1' then perform pg_sleep(60); end if; return null; end $$`);
  for (const text of inCommit('public.bookings', 'slowly')) await of.query(text);
  const { contextId, jobId } = await of.begin('go');
  const committing = `select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'tools-of-nightshift' and datname = current_database() and state = 'active' and query = 'commit'`;
  await of.until(async () => (await of.query(committing)).length > 0);
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(runs).toBe(2);
  expect(await bookings(of)).toEqual(['try 2']);
  expect(await resultsOf(of, contextId)).toEqual(['a1 tool: ←try 2']);
  expect(await ledger(of)).toEqual(ONCE);
  await of.query('drop function public.slowly() cascade');
  await of.query('drop function public.put_off() cascade');
});

test('a transaction that may still commit is waited for before the tool runs again', async () => {
  const lock = 7;
  let tries = 0;
  let looks = 0;
  const of = await booking((context) => writeBooking(context), {
    between: (tools): ToolDatabase => ({
      ...tools,
      attempt: async (...given) => ((tries += 1) === 1 ? { kind: 'in_doubt', lock } : tools.attempt(...given)),
    }),
    hook: (text) => {
      if (tagOf(text) === 'tool_transactions.try_lock') looks += 1;
    },
  });
  const { jobId } = await of.database.transaction(async (tx) => {
    await tx.execute(`select pg_advisory_xact_lock(${TRANSACTIONS}, ${lock})`);
    const begun = await of.begin('go');
    await of.until(() => looks >= 3);
    expect(tries).toBe(1);
    return begun;
  });
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(tries).toBe(2);
  expect(await bookings(of)).toEqual(['booked']);
});

test('a transaction that loses against another one runs again', async () => {
  let runs = 0;
  const of = await booking(async (context) => {
    runs += 1;
    const note = await writeBooking(context, `try ${runs}`);
    if (runs === 1) await context.tx.query(`do $$ begin raise exception 'x' using errcode = '40001'; end $$`);
    return note;
  });
  const { jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(await bookings(of)).toEqual(['try 2']);
});

test('a tool that takes too long is rolled back, also if it ignores its signal, and holds no lock', async () => {
  const never = Promise.withResolvers<never>();
  const of = await booking(
    async (context) => {
      await writeBooking(context);
      await context.tx.query('lock table public.bookings in access exclusive mode');
      return never.promise;
    },
    { timeoutMs: 300 },
  );
  const { contextId, jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(await resultsOf(of, contextId)).toEqual(['a1 tool: ←The tool book timed out after 0.3 s.']);
  expect(await bookings(of)).toEqual([]);
});

test('a statement after the end of the call is not sent', async () => {
  const late = Promise.withResolvers<string>();
  const of = await booking(async (context) => {
    context.signal.addEventListener('abort', () => undefined);
    const note = await writeBooking(context);
    setImmediate(() => {
      context.tx.query('select 1').then(
        () => late.resolve('sent'),
        (error: unknown) => late.resolve(String(error)),
      );
    });
    return note;
  });
  const { jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(await late.promise).toContain('The transaction of the call has ended');
  expect(await bookings(of)).toEqual(['booked']);
});

test('a tool that ends its transaction itself is told so, and its result is not stored', async () => {
  const of = await booking(async ({ tx }) => {
    await tx.query('commit');
    return 'done';
  });
  const { contextId, jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect((await resultsOf(of, contextId)).join()).toContain('"code":"transaction_ended"');
  expect(await of.query('select reply from tool_calls')).toEqual([{ reply: null }]);
});

test('a login that has lost its grant rolls back, and the model and the operator read why', async () => {
  const of = await booking(async (context) => {
    const note = await writeBooking(context);
    await of.query('delete from submission_grants');
    return note;
  });
  const { contextId, jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect((await resultsOf(of, contextId)).join()).toContain('"code":"not_granted"');
  expect(await bookings(of)).toEqual([]);
  await shop().grant();
});

test('values arrive as they were sent', async () => {
  const seen = Promise.withResolvers<unknown>();
  const of = await booking(async ({ tx }) => {
    const { rows } = await tx.query<{ yes: boolean }>(
      `select $1::boolean as yes, $2::int as small, $3::bigint as large, $4::jsonb as data, $5::text[] as list,
        $6::timestamptz at time zone 'UTC' as at, $7::bytea as bytes, $8::text as nothing, $9::text as text`,
      [true, 7, 2n ** 60n, { a: [1, null] }, ['x', 'y "z"\\'], new Date(0), new Uint8Array([1, 255]), null, 'true'],
    );
    const values = await tx.values('select 1 as a, false as b');
    // @ts-expect-error nothing is null
    await expect(tx.query('select $1', [undefined])).rejects.toThrow('Use null for nothing.');
    seen.resolve([rows, values.rows]);
    return 'ok';
  });
  const { jobId } = await of.begin('go');
  expect(await seen.promise).toEqual([
    [
      {
        yes: true,
        small: 7,
        large: String(2n ** 60n),
        data: { a: [1, null] },
        list: '{x,"y \\"z\\"\\\\"}',
        at: '1970-01-01 00:00:00',
        bytes: '\\x01ff',
        nothing: null,
        text: 'true',
      },
    ],
    [[1, false]],
  ]);
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
});

test('two executions of one call: the second one reads the result of the first', async () => {
  const of = await booking((context) => writeBooking(context), {
    between: (tools): ToolDatabase => ({
      ...tools,
      async attempt(...given) {
        const first = await tools.attempt(...given);
        expect(first.kind).toBe('committed');
        const second = await tools.attempt(...given);
        expect(second).toEqual({ kind: 'refused', state: SETTLE_STATES.SETTLED });
        return second;
      },
    }),
  });
  const { contextId, jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(await bookings(of)).toEqual(['booked']);
  expect(await resultsOf(of, contextId)).toEqual(['a1 tool: ←booked']);
  expect(await ledger(of)).toEqual(ONCE);
  expect(await of.query(`select count(*)::int as n from tool_calls where tenant_id = ${DEFAULT_TENANT}`)).toEqual([
    { n: 1 },
  ]);
});
