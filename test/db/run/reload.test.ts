// The run's view in memory equals a reload, after any append.
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RunSignals } from '../../../src/agent/run-signals.ts';
import { apply } from '../../../src/core/run/apply.ts';
import { decide } from '../../../src/core/decide.ts';
import { LIMITS } from '../../../src/core/limits.ts';
import { open } from '../../../src/core/transitions/open.ts';
import type { Snapshot } from '../../../src/core/run/snapshot.ts';
import { append } from '../../../src/db/run/append/append.ts';
import { claim } from '../../../src/db/run/claims.ts';
import { revoke } from '../../../src/db/run/due-contexts.ts';
import type { ContextRow } from '../../../src/db/run/contexts.ts';
import { unregister } from '../../../src/db/processes/processes.ts';
import { DatabaseClock } from '../../../src/workers/process/clock.ts';
import { createAppender } from '../../../src/workers/run/appender.ts';
import { createJournal, readSnapshot } from '../../../src/workers/run/journal.ts';
import { WALKED, nextMove, someWorld, type Happening } from '../../core/run/walk.ts';
import type { ProcessId } from '../../../src/core/ids.ts';
import { tagOf } from '../../services/statements.ts';
import { given, ids, type Given } from '../database-fixture.ts';
import { workerState } from '../worker-state.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

const db = () => the.database.db;
const clock = new DatabaseClock();
const abilities = { resolve: () => ({ kind: 'served', settings: WALKED }) as const };

async function reload(row: ContextRow): Promise<Snapshot> {
  const snapshot = await readSnapshot({ abilities: { ...workerState(the).abilities, ...abilities }, clock }, db(), row);
  if (snapshot === null) throw new Error('the worker is gone');
  return snapshot;
}

/** Fields that are read again are not compared: the next input, and counters that others raised. */
function known(of: Snapshot): Snapshot {
  return { ...of, next: null, wakeSeq: 0, controlSeq: 0, failedClaims: 0 };
}

async function walk(world: readonly Happening[]): Promise<void> {
  const { contextId } = await the.context();
  await the.submit(contextId);
  await the.submit(contextId);
  const row = await the.claimed(contextId);
  let now = await reload(row);
  let time = row.now;
  const happenings = world.filter(({ kind }) => kind !== 'cancel');
  for (let count = 0; count < 60; count += 1) {
    const next = nextMove(now, happenings.shift(), time, ids);
    if (next.kind === 'later') time = next.time;
    if (next.kind !== 'move') continue;
    const [outcome] = await append(db(), [next.move]);
    if (outcome?.kind !== 'committed') throw new Error('an append was refused');
    now = apply(now, next.move, outcome);
    const stored = await reload({ ...row, ...(await read(row)) });
    expect(known(now)).toEqual(known(stored));
    if (next.move.park !== null) return;
    if (next.move.job?.kind === 'settle') now = stored;
  }
}

async function read({ lease }: ContextRow): Promise<Partial<ContextRow>> {
  const stored = await the.row(lease.contextId);
  return { state: stored['state'] as Snapshot['state'], queued: Number(stored['queued']) };
}

test('whatever the model and the tools do', async () => {
  await fc.assert(fc.asyncProperty(someWorld, walk), { numRuns: 25 });
}, 120_000);

test('a read of the mailbox does not count the claim under which it happens', async () => {
  const { contextId } = await the.context();
  await the.submit(contextId);
  const die = async () => {
    const owner = await the.process();
    await the.rows(`update contexts set next_check_at = now() - interval '1 second' where id = '${contextId}'`);
    const row = await claim(db(), contextId, owner);
    await unregister(db(), owner);
    await revoke(db(), 10);
    return row;
  };
  for (let death = 1; death < LIMITS.failedClaims; death += 1) await die();
  await the.rows(`update contexts set next_check_at = now() - interval '1 second' where id = '${contextId}'`);
  const row = await claim(db(), contextId, await the.process());
  if (row === null) throw new Error('nothing to claim');
  const first = await reload(row);
  expect(first.failedClaims).toBe(LIMITS.failedClaims - 1);
  const move = open(first, decide(first, row.now));
  if (move === null) throw new Error('nothing was begun');
  const [outcome] = await append(db(), [move]);
  if (outcome?.kind !== 'committed') throw new Error('an append was refused');
  const now = apply(first, move, outcome);
  const state = workerState(the);
  const journal = createJournal(
    { ...state, abilities: { ...state.abilities, ...abilities } },
    new RunSignals(),
    { committed: () => undefined },
    ids.next<ProcessId>(),
  );
  expect((await journal.reload(now)).failedClaims).toBe(now.failedClaims);
  const recovered = await journal.recover(now.lease);
  expect(recovered.failedClaims).toBe(now.failedClaims);
  expect(decide(recovered, row.now).kind).toBe('call_model');
});

test('an append that arrives after its run gave it up as lost changes nothing', async () => {
  const { contextId } = await the.context();
  await the.submit(contextId);
  const row = await the.claimed(contextId);
  const first = await reload(row);
  const move = open(first, decide(first, row.now));
  if (move === null) throw new Error('nothing was begun');
  let isCut = true;
  const cut = the.open({
    max: 1,
    hook: (text) => {
      if (isCut && tagOf(text) === 'contexts.append')
        throw Object.assign(new Error('cut'), { code: 'CONNECTION_CLOSED' });
    },
  });
  const state = workerState(the);
  const journal = createJournal(
    {
      ...state,
      database: cut,
      appender: createAppender(cut.db),
      abilities: { ...state.abilities, ...abilities },
    },
    new RunSignals(),
    { committed: () => undefined },
    ids.next<ProcessId>(),
  );
  expect(await journal.append(move)).toEqual({ kind: 'in_doubt' });
  isCut = false;
  const recovered = await journal.recover(first.lease);
  expect(await append(db(), [move])).toEqual([{ kind: 'stale' }]);
  expect(recovered.job).toBeNull();
  const again = open(recovered, decide(recovered, row.now));
  expect(again && (await journal.append(again)).kind).toBe('committed');
  expect(await journal.recover(first.lease).catch((error: Error) => error.name)).toBe('LeaseLost');
});

test('a released lease is not recovered by its former owner', async () => {
  const { contextId } = await the.context();
  await the.submit(contextId);
  const row = await the.claimed(contextId);
  const first = await reload(row);
  await the.rows(
    `update contexts set scheduling_status = 'runnable', lease_owner = null, next_check_at = now() where id = '${contextId}'`,
  );
  const state = workerState(the);
  const journal = createJournal(
    { ...state, abilities: { ...state.abilities, ...abilities } },
    new RunSignals(),
    { committed: () => undefined },
    ids.next<ProcessId>(),
  );
  expect(await journal.recover(first.lease).catch((error: Error) => error.name)).toBe('LeaseLost');
});

test('a second cut in the middle of a recovery does not strand the run: it knows the epoch it raised itself', async () => {
  const { contextId } = await the.context();
  await the.submit(contextId);
  const owner = await the.process();
  const row = await claim(db(), contextId, owner);
  if (row === null) throw new Error('nothing to claim');
  const state = workerState(the);
  let cuts = 0;
  // The commit arrives, its acknowledgement does not.
  const cut: typeof the.database = {
    ...the.database,
    transaction: async (work) => {
      const done = await the.database.transaction(work);
      if ((cuts += 1) <= 2) throw Object.assign(new Error('cut'), { code: 'CONNECTION_CLOSED' });
      return done;
    },
  };
  const cutState = { ...state, database: cut, abilities: { ...state.abilities, ...abilities } };
  const recovered = await createJournal(cutState, new RunSignals(), { committed: () => undefined }, owner).recover(
    row.lease,
  );
  expect(cuts).toBe(3);
  expect(recovered.lease.epoch).toBe(row.lease.epoch + 3);
  expect(await the.row(contextId)).toMatchObject({ lease_owner: owner, lease_epoch: recovered.lease.epoch });
});

test('a repeated recovery takes nothing from the present owner of the context', async () => {
  const { contextId } = await the.context();
  await the.submit(contextId);
  const owner = await the.process();
  const row = await claim(db(), contextId, owner);
  if (row === null) throw new Error('nothing to claim');
  const other = await the.process();
  const state = workerState(the);
  let cuts = 0;
  const cut: typeof the.database = {
    ...the.database,
    transaction: async (work) => {
      if ((cuts += 1) > 1) return the.database.transaction(work);
      await unregister(db(), owner);
      await revoke(db(), 10);
      expect(await claim(db(), contextId, other)).not.toBeNull();
      throw Object.assign(new Error('cut'), { code: 'CONNECTION_CLOSED' });
    },
  };
  const cutState = { ...state, database: cut, abilities: { ...state.abilities, ...abilities } };
  const recovering = createJournal(cutState, new RunSignals(), { committed: () => undefined }, owner).recover(
    row.lease,
  );
  expect(await recovering.catch((error: Error) => error.name)).toBe('LeaseLost');
  expect(await the.row(contextId)).toMatchObject({ lease_owner: other });
});
