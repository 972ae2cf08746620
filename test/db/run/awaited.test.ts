// Calls that wait for workers' jobs: every end of a job counts down, in its own commit, once; and the waiting context
// is woken.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cancelJob } from '../../../src/commands/jobs/cancel-job.ts';
import { deleteWorker } from '../../../src/commands/workers/delete-worker.ts';
import { perform } from '../../../src/commands/perform.ts';
import { stopWorker } from '../../../src/commands/workers/stop-worker.ts';
import type { Append } from '../../../src/core/run/append.ts';
import type { ContextId, JobId, MessageId, ToolCallId } from '../../../src/core/ids.ts';
import type { Lease } from '../../../src/core/run/snapshot.ts';
import { append } from '../../../src/db/run/append/append.ts';
import { recount, wakeForgotten, wakeMet } from '../../../src/db/calls/awaited.ts';
import { job as someJob } from '../../core/builders.ts';
import { given, ids, nothing, type Context, type Given } from '../database-fixture.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

const db = () => the.database.db;

type Child = Context & { jobId: JobId };
type Parent = { contextId: ContextId; lease: Lease; jobId: JobId; callId: ToolCallId };

async function child(): Promise<Child> {
  const context = await the.context();
  return { ...context, jobId: await the.submit(context.contextId) };
}

/** A context under a lease, with a call that waits for the jobs of `children`; parked unless `state` says otherwise. */
async function waitingFor(
  children: readonly Child[],
  { needs = children.length, park = true, callId = ids.next<ToolCallId>() } = {},
): Promise<Parent> {
  const { contextId } = await the.context();
  const jobId = await the.submit(contextId);
  const { lease } = await the.claimed(contextId);
  const job = someJob({ id: jobId });
  await append(db(), [nothing(lease, { job: { kind: 'admit', job } })]);
  await append(db(), [nothing(lease, waitOn(jobId, callId, children, needs))]);
  const until = Date.now() + 3_600_000;
  if (park)
    await append(db(), [
      nothing(lease, { state: 'AwaitingWorkers', park: { status: 'waiting', until }, progress: 'returned' }),
    ]);
  return { contextId, lease, jobId, callId };
}

function waitOn(jobId: JobId, callId: ToolCallId, children: readonly Child[], needs: number): Partial<Append> {
  const messageId = ids.next<MessageId>();
  const call = { id: callId, messageId, jobId, ordinal: 0, name: 'wait_for_workers' };
  return {
    calls: [
      {
        kind: 'request',
        call: { ...call, effect: 'none', onUnknown: 'tell' },
        wait: { for: 'workers', until: null, needs },
      },
    ],
    awaits: children.map((one, ordinal) => ({ callId, jobId: one.jobId, workerId: one.workerId, ordinal })),
  };
}

/** The append that ends the job of a running child. */
async function ending({ contextId, jobId }: Child): Promise<Append> {
  const { lease } = await the.claimed(contextId);
  const job = someJob({ id: jobId });
  await append(db(), [nothing(lease, { job: { kind: 'admit', job } })]);
  const outcome = { status: 'completed' as const, outputId: null };
  return nothing(lease, { job: { kind: 'settle', job, outcome }, park: { status: 'idle' } });
}

async function needsOf({ callId }: Parent): Promise<unknown> {
  const [row] = await the.rows(`select needs from tool_calls where id = '${callId}'`);
  return row?.['needs'];
}

describe('every end of a job counts down', () => {
  test('two children that end in one statement, and a third: only the last one meets the wait', async () => {
    const [a, b, c] = [await child(), await child(), await child()];
    const parent = await waitingFor([a, b, c]);
    const both = await append(db(), [await ending(a), await ending(b)], 'pass');
    expect(both).toMatchObject([{ met: [] }, { met: [] }]);
    expect(await needsOf(parent)).toBe(1);
    expect(await append(db(), [await ending(c)])).toMatchObject([{ met: [parent.contextId] }]);
    expect(await needsOf(parent)).toBe(0);
  });

  test('a job that two calls wait for, one of which waits for more', async () => {
    const [a, b] = [await child(), await child()];
    const [first, second] = [await waitingFor([a]), await waitingFor([a, b])];
    expect(await append(db(), [await ending(a)])).toMatchObject([{ met: [first.contextId] }]);
    expect([await needsOf(first), await needsOf(second)]).toEqual([0, 1]);
  });

  test('a job that no call awaits changes nothing', async () => {
    const parent = await waitingFor([await child()]);
    expect(await append(db(), [await ending(await child())])).toMatchObject([{ met: [] }]);
    expect(await needsOf(parent)).toBe(1);
  });

  test('a queued job that is withdrawn, and one that waits and is cancelled', async () => {
    const [a, b] = [await child(), await child()];
    const parent = await waitingFor([a, b]);
    const waits = await ending(b);
    await append(db(), [
      nothing(waits.lease, {
        park: { status: 'waiting', until: Date.now() + 60_000 },
        state: 'TransientFailure',
      }),
    ]);
    const ports = the.ports();
    for (const { tenantId, jobId } of [a, b]) {
      await perform(ports, cancelJob(ports, { tenantId, jobId, reason: null, by: null }));
    }
    expect(await needsOf(parent)).toBe(0);
    await untilWoken(ports.wakeUps, parent.contextId);
  });

  test('the removal of a worker', async () => {
    const one = await child();
    const parent = await waitingFor([one]);
    const ports = the.ports();
    await deleteWorker(ports, one.tenantId, one.workerId);
    expect(await needsOf(parent)).toBe(0);
    await untilWoken(ports.wakeUps, parent.contextId);
  });

  test('nothing where the waiting context is deleted, or no longer waits', async () => {
    const [a, b] = [await child(), await child()];
    const gone = await waitingFor([a]);
    const [worker] = await the.rows(`select id, tenant_id from workers where context_id = '${gone.contextId}'`);
    await deleteWorker(the.ports(), a.tenantId, worker?.['id'] as Child['workerId']);
    expect(await append(db(), [await ending(a)])).toMatchObject([{ met: [] }]);
    const closed = await waitingFor([b], { park: false });
    const { lease, callId } = closed;
    const calls: Append['calls'] = [{ kind: 'close', id: callId, status: 'cancelled', execution: null }];
    await append(db(), [nothing(lease, { calls, released: [callId] })]);
    expect(await append(db(), [await ending(b)])).toMatchObject([{ met: [] }]);
    expect(await the.rows('select 1 from awaited_jobs where context_id is null')).toEqual([]);
    expect(await needsOf(closed)).toBe(1);
  });

  test('not a call that the same statement closes', async () => {
    const one = await child();
    const parent = await waitingFor([one], { park: false });
    const { lease, callId } = parent;
    const calls: Append['calls'] = [{ kind: 'close', id: callId, status: 'expired', execution: null }];
    const closes = nothing(lease, { calls, released: [callId] });
    expect(await append(db(), [closes, await ending(one)], 'pass')).toMatchObject([{ met: [] }, { met: [] }]);
    expect(await the.rows(`select status from tool_calls where id = '${callId}'`)).toEqual([{ status: 'expired' }]);
  });
});

describe('jobs that existed before', () => {
  test('one that ended without a count is counted again', async () => {
    const [a, b] = [await child(), await child()];
    await append(db(), [await ending(a)]);
    const parent = await waitingFor([a, b], { park: false });
    const { tenantId } = a;
    const again = (any: boolean) =>
      the.database.transaction((tx) => recount(tx, tenantId, parent.contextId, [{ callId: parent.callId, any }]));
    expect(await again(false)).toBe(false);
    expect(await needsOf(parent)).toBe(1);
    expect(await again(true)).toBe(true);
    expect(await needsOf(parent)).toBe(0);
    await again(false);
    await append(db(), [await ending(b)]);
    expect(await again(false)).toBe(true);
    expect(await needsOf(parent)).toBe(0);
  });

  test('one that is ending is counted once, whether before or after', async () => {
    const one = await child();
    const parent = await waitingFor([one], { park: false });
    const settles = await ending(one);
    const { promise: counted, resolve: go } = Promise.withResolvers<void>();
    const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>();
    const counting = the.database.transaction(async (tx) => {
      const met = await recount(tx, one.tenantId, parent.contextId, [{ callId: parent.callId, any: false }]);
      locked();
      await counted;
      return met;
    });
    await isLocked;
    const settling = append(db(), [settles]);
    go();
    expect(await counting).toBe(false);
    expect(await settling).toMatchObject([{ met: [parent.contextId] }]);
    expect(await needsOf(parent)).toBe(0);
  });
});

describe('the waiting context', () => {
  test('is woken where it parked, and signalled where it is about to park', async () => {
    const [a, b] = [await child(), await child()];
    const parked = await waitingFor([a]);
    expect(await wakeMet(db(), parked.contextId)).toBeNull();
    await append(db(), [await ending(a)]);
    const { wake_seq: before } = await the.row(parked.contextId);
    expect(await wakeMet(db(), parked.contextId)).toMatchObject({ contextId: parked.contextId });
    expect(await the.row(parked.contextId)).toMatchObject({
      scheduling_status: 'runnable',
      wake_seq: Number(before) + 1,
    });
    const locked = await waitingFor([b], { park: false });
    await append(db(), [await ending(b)]);
    const { wake_seq: seen } = await the.row(locked.contextId);
    expect(await wakeMet(db(), locked.contextId)).toBeNull();
    const park: Append['park'] = { status: 'waiting', until: Date.now() + 60_000 };
    const guard = { controlSeq: null, wakeSeq: Number(seen) };
    expect(await append(db(), [nothing(locked.lease, { park, guard })])).toMatchObject([{ kind: 'stale' }]);
  });

  test('is found by the sweep where its waker died, and not where its check is postponed', async () => {
    const [a, b] = [await child(), await child()];
    const [forgotten, postpone] = [await waitingFor([a]), await waitingFor([b])];
    await append(db(), [await ending(a), await ending(b)]);
    await the.rows(
      `update contexts set next_check_at = clock_timestamp() + interval '2 seconds' where id = '${postpone.contextId}'`,
    );
    const woken = (await wakeForgotten(db(), 100)).map(({ contextId }) => contextId);
    expect(woken).toContain(forgotten.contextId);
    expect(woken).not.toContain(postpone.contextId);
    expect((await wakeForgotten(db(), 100)).map(({ contextId }) => contextId)).not.toContain(forgotten.contextId);
  });
});

test('ends that count down the same calls in any order never deadlock', async () => {
  const before = await deadlocks();
  for (let round = 0; round < 15; round += 1) {
    const children = await Promise.all(Array.from({ length: 8 }, child));
    const parents = await Promise.all(
      Array.from({ length: 4 }, (_, n) =>
        waitingFor(n % 2 === 0 ? children : [...children].reverse(), { park: false }),
      ),
    );
    const ends = await Promise.all(children.map(ending));
    const closes = parents.map(({ lease, callId }) =>
      nothing(lease, {
        calls: [{ kind: 'close', id: callId, status: 'expired', execution: null }],
        released: [callId],
      }),
    );
    const [first, second, third, fourth] = closes;
    if (first === undefined || second === undefined || third === undefined || fourth === undefined)
      throw new Error('too few');
    await Promise.all([
      append(db(), [...ends.slice(0, 4), fourth], 'pass'),
      append(db(), [first, ...ends.slice(4).reverse()], 'pass'),
      append(db(), [second]),
      append(db(), [third]),
    ]);
  }
  expect((await deadlocks()) - before).toBe(0);
});

async function deadlocks(): Promise<number> {
  await db().execute(sql`select pg_stat_clear_snapshot()`);
  const [row] = await the.rows('select deadlocks::int as n from pg_stat_database where datname = current_database()');
  return Number(row?.['n']);
}

async function untilWoken(wakeUps: readonly { contextId: ContextId }[], contextId: ContextId): Promise<void> {
  await expect.poll(() => wakeUps.some((notify) => notify.contextId === contextId)).toBe(true);
}

test('a stop that ends two jobs of a context locks the calls that wait for them in order, before the first', async () => {
  const one = await child();
  const begun = await ending(one);
  const until = Date.now() + 60_000;
  await append(db(), [nothing(begun.lease, { park: { status: 'waiting', until }, state: 'TransientFailure' })]);
  const queued = { ...one, jobId: await the.submit(one.contextId) };
  const [low, high] = [ids.next<ToolCallId>(), ids.next<ToolCallId>()];
  const first = await waitingFor([one], { callId: low });
  await waitingFor([queued], { callId: high });
  await the.rows(`update jobs set parent_job_id = '${first.jobId}' where id = '${queued.jobId}'`);
  const ports = the.ports(the.open({ max: 2, name: 'stopping' }));
  const how = { reason: 'x', by: null, may: async () => true, asked: 'cancel' as const };
  const locked = Promise.withResolvers<void>();
  const look = Promise.withResolvers<void>();
  const other = the.database.transaction(async (tx) => {
    await tx.execute(sql`select id from tool_calls where id = ${low} for update`);
    locked.resolve();
    await look.promise;
    await tx.execute(sql`select id from tool_calls where id = ${high} for update nowait`);
  });
  await locked.promise;
  const stopping = perform(ports, stopWorker(ports, one, how));
  await expect
    .poll(() =>
      the.rows(`select 1 from pg_stat_activity where datname = current_database()
        and application_name = 'stopping' and cardinality(pg_blocking_pids(pid)) > 0`),
    )
    .toHaveLength(1);
  look.resolve();
  await other;
  expect(await stopping).toMatchObject({ kind: 'done' });
  expect(await the.rows(`select needs from tool_calls where id in ('${low}', '${high}')`)).toEqual([
    { needs: 0 },
    { needs: 0 },
  ]);
});
