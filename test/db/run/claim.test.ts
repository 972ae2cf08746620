// Which process may run a context: claims, dead owners, and the findings of sweeps.
import { sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_TENANT, type ContextId, type ProcessId } from '../../../src/core/ids.ts';
import { append } from '../../../src/db/run/append/append.ts';
import type { Executor } from '../../../src/db/connection/client.ts';
import { claim, claimFree, claimWithinSlots } from '../../../src/db/run/claims.ts';
import { owned, read, release, renew } from '../../../src/db/run/contexts.ts';
import { revoke, takeDue } from '../../../src/db/run/due-contexts.ts';
import { readRunnable } from '../../../src/db/run/runnable.ts';
import {
  heartbeat,
  declareDead,
  nextDeath,
  takeLock,
  published,
  unregister,
} from '../../../src/db/processes/processes.ts';
import { until } from '../../e2e/rig/until.ts';
import { TIMES, given, ids, nothing, type Given } from '../database-fixture.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());
beforeEach(async () => {
  await the.rows('truncate contexts, workers, branches, jobs, messages, event_batches, tool_calls, processes cascade');
});

const db = () => the.database.db;

/** A context with one queued input. */
async function due(): Promise<ContextId> {
  const { contextId } = await the.context();
  await the.submit(contextId);
  return contextId;
}

const running = (id: ProcessId) => ({ id, status: 'running' }) as const;

async function set(contextId: ContextId, columns: string): Promise<void> {
  await the.rows(`update contexts set ${columns} where id = '${contextId}'`);
}

describe('claim', () => {
  test('of two claimers one wins, in any order', async () => {
    const pools = [the.open({ max: 1 }), the.open({ max: 1 })];
    const claimers = await Promise.all(pools.map(() => the.process({ lock: true })));
    for (let round = 0; round < 60; round += 1) {
      const contextId = await due();
      const claims = await Promise.all(
        pools.map(({ db: own }, n) => claim(own, contextId, claimers[n] ?? ids.next<ProcessId>())),
      );
      const won = claims.flatMap((row) => (row === null ? [] : [row]));
      expect(won).toHaveLength(1);
      expect(won[0]?.lease.epoch).toBe(1);
    }
  });

  test('takes the lease, raises the epoch, and counts the failed claims before it', async () => {
    const contextId = await due();
    const owner = await the.process();
    const row = await claim(db(), contextId, owner);
    expect(row).toMatchObject({ lease: { epoch: 1 }, failedClaims: 0, queued: 1, wakeSeq: 1 });
    expect(Math.abs((row?.now ?? 0) - Date.now())).toBeLessThan(60_000);
    expect(await the.row(contextId)).toMatchObject({
      scheduling_status: 'running',
      lease_owner: owner,
      next_check_at: null,
      failed_claims: 1,
    });
  });

  test('of many: those that are free and due, without waiting for a locked row', async () => {
    const [free, locked, idle] = await Promise.all([the.context(), the.context(), the.context()]);
    for (const { contextId } of [free, locked]) await the.submit(contextId);
    const owner = await the.process();
    const all = [free, locked, idle].map(({ contextId }) => contextId);
    await the.database.transaction(async (tx) => {
      await read(tx, locked.contextId, 'lock');
      const claimed = await claimFree(db(), all, owner);
      expect(claimed).toMatchObject([{ lease: { contextId: free.contextId }, failedClaims: 0 }]);
    });
    expect(await claimFree(db(), all, owner)).toMatchObject([{ lease: { contextId: locked.contextId } }]);
  });

  test('finds nothing in an idle context', async () => {
    const { contextId } = await the.context();
    expect(await claim(db(), contextId, await the.process())).toBeNull();
  });

  test('leaves a waiting context until its time has come', async () => {
    const contextId = await due();
    const owner = await the.process();
    await set(contextId, `scheduling_status = 'waiting', next_check_at = now() + interval '1 minute'`);
    expect(await claim(db(), contextId, owner)).toBeNull();
    await set(contextId, `next_check_at = now() - interval '1 second'`);
    expect(await claim(db(), contextId, owner)).not.toBeNull();
  });

  test('does not take a context from the same process', async () => {
    const contextId = await due();
    const owner = await the.process({ silentMs: 60_000 });
    expect(await claim(db(), contextId, owner)).not.toBeNull();
    expect(await claim(db(), contextId, owner)).toBeNull();
  });

  test('a process that was declared dead, or never registered, claims nothing', async () => {
    const contextId = await due();
    const dead = await the.process();
    await unregister(db(), dead);
    expect(await claim(db(), contextId, dead)).toBeNull();
    expect(await claim(db(), contextId, ids.next<ProcessId>())).toBeNull();
  });

  test.each([
    ['the lock free and the beat old', { silentMs: 20_000, lock: false }, true],
    ['the lock free and the beat recent', { silentMs: -60_000, lock: false }, false],
    ['the lock held and the heartbeat older than the lease', { silentMs: 110_000, lock: true }, true],
    ['the lock held and the heartbeat late', { silentMs: 50_000, lock: true }, false],
  ])('takes from an owner only revoked leases: %s', async (_, state, taken) => {
    const contextId = await due();
    const owner = await the.process({ lock: state.lock });
    await claim(db(), contextId, owner);
    await the.rows(
      `update processes set heartbeat_at = clock_timestamp() - interval '${state.silentMs} milliseconds' where id = '${owner}'`,
    );
    const other = await the.process();
    expect(await claim(db(), contextId, other)).toBeNull();
    await declareDead(db(), TIMES, await the.process());
    await revoke(db(), 10);
    const row = await claim(db(), contextId, other);
    expect(row === null ? null : row.lease.epoch).toBe(taken ? 3 : null);
  });
});

describe('a claim of a tenant with a limit of slots', () => {
  const limitTo = (slots: number | null) =>
    the.rows(
      `update tenants set limits = '${JSON.stringify(slots === null ? {} : { slots })}' where id = ${DEFAULT_TENANT}`,
    );
  const within = (executor: Executor, contextId: ContextId, owner: ProcessId) =>
    claimWithinSlots(executor, contextId, owner, null);
  const alone = (contextId: ContextId, owner: ProcessId) =>
    the.database.transaction(async (tx) => (await within(tx, contextId, owner)).kind);
  afterEach(() => limitTo(null));

  test('counts those of all processes, and is a noop at the limit', async () => {
    await limitTo(2);
    const [one, other] = [await the.process({ lock: true }), await the.process({ lock: true })];
    const contexts = [await due(), await due(), await due()] as const;
    expect(await alone(contexts[0], one)).toBe('claimed');
    expect(await alone(contexts[0], other)).toBe('noop');
    expect(await alone(contexts[1], other)).toBe('claimed');
    expect(await alone(contexts[2], one)).toBe('noop');
    await limitTo(3);
    expect(await alone(contexts[2], one)).toBe('claimed');
  });

  test('waits for no other one: it tells that it has to be tried again', async () => {
    await limitTo(2);
    const owner = await the.process({ lock: true });
    const [first, second, third] = [await due(), await due(), await due()];
    const kind = await the.database.transaction(async (tx) => {
      expect((await within(tx, first, owner)).kind).toBe('claimed');
      expect(await alone(second, owner)).toBe('busy');
      // The row of this one is locked.
      return alone(first, owner);
    });
    expect(kind).toBe('locked');
    expect([await alone(second, owner), await alone(third, owner)]).toEqual(['claimed', 'noop']);
  });

  test.each([5, 40])('of %i at once, no more than the limit take a slot', async (count) => {
    await limitTo(3);
    const owner = await the.process({ lock: true });
    const contexts = await Promise.all(Array.from({ length: count }, due));
    const pools = [the.open({ max: 4 }), the.open({ max: 4 })];
    const kinds = await Promise.all(
      contexts.map(async (contextId, n) => {
        const pool = pools[n % 2] ?? the.database;
        for (;;) {
          const { kind } = await pool.transaction((tx) => within(tx, contextId, owner));
          if (kind !== 'busy') return kind;
        }
      }),
    );
    expect(kinds.filter((kind) => kind === 'claimed')).toHaveLength(3);
    const running = `select count(*)::int as n from contexts where lease_owner is not null`;
    expect(await the.rows(running)).toEqual([{ n: 3 }]);
  });

  test('is left to claims that count: others leave the tenant out', async () => {
    await limitTo(2);
    const owner = await the.process({ lock: true });
    const contextId = await due();
    expect(await claim(db(), contextId, owner)).toBeNull();
    expect(await the.database.transaction((tx) => claimFree(tx, [contextId], owner))).toEqual([]);
    await limitTo(null);
    // And the other way round: without a limit there is nothing to count.
    expect(await alone(contextId, owner)).toBe('noop');
    expect(await claim(db(), contextId, owner)).not.toBeNull();
  });

  test('of a tenant that is not active is a noop', async () => {
    await limitTo(2);
    const owner = await the.process({ lock: true });
    const contextId = await due();
    await the.rows(`update tenants set status = 'suspended' where id = ${DEFAULT_TENANT}`);
    expect(await alone(contextId, owner)).toBe('noop');
    await the.rows(`update tenants set status = 'active' where id = ${DEFAULT_TENANT}`);
    expect(await alone(contextId, owner)).toBe('claimed');
  });
});

describe('a lease', () => {
  test('is renewed by its owner: earlier statements can no longer commit', async () => {
    const contextId = await due();
    const { lease } = await the.claimed(contextId);
    const renewed = await renew(db(), lease);
    expect(renewed?.lease.epoch).toBe(lease.epoch + 1);
    expect(await append(db(), [nothing(lease)])).toEqual([{ kind: 'stale' }]);
    expect(await renew(db(), lease)).toBeNull();
  });

  test('that was released is not renewed', async () => {
    const contextId = await due();
    const { lease } = await the.claimed(contextId);
    await append(db(), [nothing(lease, { park: { status: 'runnable' } })]);
    expect(await renew(db(), lease)).toBeNull();
  });

  test('is released by its owner alone, for others after a while', async () => {
    const contextId = await due();
    const owner = await the.process();
    await claim(db(), contextId, owner);
    expect(await owned(db(), owner)).toEqual([{ contextId, epoch: 1 }]);
    await release(db(), { contextId, owner: await the.process(), epoch: null }, 0);
    await release(db(), { contextId, owner, epoch: 7 }, 0);
    expect(await owned(db(), owner)).toEqual([{ contextId, epoch: 1 }]);
    await release(db(), { contextId, owner, epoch: 1 }, 60_000);
    expect(await the.row(contextId)).toMatchObject({
      scheduling_status: 'waiting',
      lease_owner: null,
      lease_epoch: 2,
    });
    expect(await claim(db(), contextId, await the.process())).toBeNull();
  });

  test('is read with or without a lock; of a deleted context it is null', async () => {
    const contextId = await due();
    expect(await read(db(), contextId)).toMatchObject({ queued: 1 });
    expect(await read(db(), contextId, 'lock')).toMatchObject({ queued: 1 });
    expect(await read(db(), ids.next<ContextId>())).toBeNull();
  });
});

describe('dead processes', () => {
  test('are declared once, and only under the one predicate', async () => {
    const free = await the.process({ silentMs: 20_000 });
    const vanished = await the.process({ silentMs: 110_000, lock: true });
    await the.process({ silentMs: 50_000, lock: true });
    await the.process();
    expect((await declareDead(db(), TIMES, await the.process())).sort()).toEqual([free, vanished].sort());
    expect(await declareDead(db(), TIMES, await the.process())).toEqual([]);
  });

  /** Looks at all processes, for deaths from now on. */
  const NOW = { silentMs: 0, sinceMs: 0 };

  test('are expected as soon as their lock is free, at the end of their heartbeat timeout', async () => {
    expect(await nextDeath(db(), TIMES, NOW)).toBeNull();
    await the.process({ silentMs: 200, lock: true });
    expect(await nextDeath(db(), TIMES, NOW)).toBeNull();
    await the.process({ silentMs: 20_000 });
    expect(await nextDeath(db(), TIMES, NOW)).toBeNull();
    await the.process({ silentMs: 200 });
    await the.process({ silentMs: 300 });
    const ms = (await nextDeath(db(), TIMES, NOW)) ?? 0;
    expect(ms).toBeGreaterThan(0);
    expect(ms).toBeLessThanOrEqual(TIMES.heartbeatTimeoutMs - 300);
    expect(await nextDeath(db(), TIMES, { ...NOW, silentMs: 60_000 })).toBeNull();
  });

  test('are expected at once if their timeout passed since the last look, until they are declared', async () => {
    await the.process({ silentMs: TIMES.heartbeatTimeoutMs + 10 });
    expect(await nextDeath(db(), TIMES, NOW)).toBeNull();
    const lately = { ...NOW, sinceMs: 60_000 };
    expect(await nextDeath(db(), TIMES, lately)).toBe(0);
    await declareDead(db(), TIMES, await the.process());
    expect(await nextDeath(db(), TIMES, lately)).toBeNull();
  });

  test('lose their connections, and live processes keep theirs', async () => {
    const names = ['nightshift-of-the-dead', 'nightshift-of-one-who-lives'];
    const [ofDead, ofLiving] = names.map((name) => the.open({ max: 1, name }));
    const pids = () =>
      the.rows(`select pid from pg_stat_activity where application_name in ('${names.join("', '")}') order by 1`);
    for (const one of [ofDead, ofLiving]) await one?.db.execute(sql`select 1`);
    expect(await pids()).toHaveLength(2);
    await the.process({ silentMs: 20_000, sessionName: names[0] ?? '' });
    const judge = await the.process({ sessionName: names[1] ?? '' });
    expect(await declareDead(db(), TIMES, judge)).toHaveLength(1);
    await until('its connection to be ended', async () => (await pids()).length === 1);
    // If the process wakes, it finds its connection cut and opens another one.
    await ofDead?.db.execute(sql`select 1`);
    expect(await declareDead(db(), TIMES, judge)).toEqual([]);
    expect(await pids()).toHaveLength(2);
  });

  test('are not declared by a process whose own heartbeats were just late', async () => {
    await the.process({ silentMs: 20_000 });
    const late = await the.process({ silentMs: 20_000 });
    expect(await declareDead(db(), TIMES, late)).toEqual([]);
    await heartbeat(db(), running(late), TIMES);
    expect(await declareDead(db(), TIMES, late)).toEqual([]);
    await the.rows(
      `update processes set late_at = late_at - interval '10 seconds', heartbeat_at = heartbeat_at + interval '1 hour' where id = '${late}'`,
    );
    expect(await declareDead(db(), TIMES, late)).toHaveLength(1);
  });

  test('learn it at their next heartbeat', async () => {
    const id = await the.process({ silentMs: 20_000 });
    await declareDead(db(), TIMES, await the.process());
    expect(await heartbeat(db(), running(id), TIMES)).toEqual({ kind: 'dead' });
    expect(await heartbeat(db(), running(ids.next<ProcessId>()), TIMES)).toEqual({ kind: 'dead' });
  });

  test('a process with a timely heartbeat is not declared dead by one that read before it', async () => {
    const id = await the.process({ silentMs: 20_000 });
    const beating = the.open({ max: 1 });
    await beating.transaction(async (tx) => {
      await heartbeat(tx, running(id), TIMES);
      expect(await declareDead(db(), TIMES, await the.process())).toEqual([]);
      await tx.execute(sql`update processes set heartbeat_at = heartbeat_at + interval '1 hour' where id = ${id}`);
    });
    expect(await declareDead(db(), TIMES, await the.process())).toEqual([]);
  });

  test('lose their leases: the epoch rises and any process may continue', async () => {
    const contextId = await due();
    const owner = await the.process();
    const row = await claim(db(), contextId, owner);
    expect(await revoke(db(), 10)).toBe(0);
    await unregister(db(), owner);
    expect(await revoke(db(), 10)).toBe(1);
    expect(await the.row(contextId)).toMatchObject({
      scheduling_status: 'runnable',
      lease_owner: null,
      lease_epoch: 2,
    });
    expect(row && (await append(db(), [nothing(row.lease)]))).toEqual([{ kind: 'stale' }]);
    expect(await revoke(db(), 10)).toBe(0);
  });

  test('a job that keeps killing its processes is delayed, longer each time', async () => {
    const contextId = await due();
    const waits: unknown[] = [];
    for (let death = 0; death < 4; death += 1) {
      const owner = await the.process();
      await set(contextId, `next_check_at = now() - interval '1 second'`);
      expect((await claim(db(), contextId, owner))?.failedClaims).toBe(death);
      await unregister(db(), owner);
      // Between two reads of the clock in one transaction: the wait has its full length, however long that took.
      const [row] = await the.database.transaction(async (tx) => {
        await revoke(tx, 10);
        return tx.execute<{ scheduling_status: string; least: boolean; most: boolean }>(sql`
          select scheduling_status, next_check_at >= date_trunc('milliseconds', now()) + wait as least,
            next_check_at <= clock_timestamp() + wait as most
          from contexts, (select ${death === 0 ? 0 : 2 ** (death - 1)}::float8 * interval '1 second' as wait) expected
          where id = ${contextId}`);
      });
      waits.push(row);
    }
    expect(waits).toEqual(
      ['runnable', 'waiting', 'waiting', 'waiting'].map((status) => ({
        scheduling_status: status,
        least: true,
        most: true,
      })),
    );
  });

  test('a context is not delayed when its process died with many: one of them killed the process at most', async () => {
    const owner = await the.process();
    const contexts = await Promise.all(Array.from({ length: 5 }, due));
    for (const contextId of contexts) {
      await set(contextId, 'failed_claims = 3');
      await claim(db(), contextId, owner);
    }
    const alone = await due();
    const other = await the.process();
    await set(alone, 'failed_claims = 3');
    await claim(db(), alone, other);
    await unregister(db(), owner);
    await unregister(db(), other);
    await revoke(db(), 10);
    const waiting = await the.rows(`select id, failed_claims from contexts where scheduling_status = 'waiting'`);
    expect(waiting).toEqual([{ id: alone, failed_claims: 4 }]);
    const left = await the.rows(
      `select 1 from contexts where scheduling_status = 'runnable' and failed_claims = 4 and next_check_at <= clock_timestamp()`,
    );
    expect(left).toHaveLength(5);
  });

  test('no more leases than the limit are revoked at once', async () => {
    const owner = await the.process();
    for (let count = 0; count < 7; count += 1) await claim(db(), await due(), owner);
    await unregister(db(), owner);
    expect([await revoke(db(), 5), await revoke(db(), 5), await revoke(db(), 5)]).toEqual([5, 2, 0]);
  });

  test('their capabilities are reported where no process lives', async () => {
    await the.process({ silentMs: 60_000 });
    expect(await published(db(), TIMES)).toHaveLength(1);
    await the.process();
    await the.process();
    expect(await published(db(), TIMES)).toHaveLength(2);
  });
});

describe('a heartbeat', () => {
  test('names the contexts whose owner has a control signal', async () => {
    const owner = await the.process();
    const [quiet, signalled] = [await due(), await due()];
    await claim(db(), quiet, owner);
    await claim(db(), signalled, owner);
    await set(signalled, 'next_check_at = now(), control_seq = 7');
    const answer = await heartbeat(db(), running(owner), TIMES);
    expect(answer).toMatchObject({ kind: 'alive', signals: [{ contextId: signalled, controlSeq: 7 }] });
  });

  test('reports which server process holds the lock, so that a lost lock is noticed', async () => {
    const pool = the.open({ max: 1 });
    const pid = await takeLock(pool.db, 77);
    expect(await takeLock(db(), 77)).toBeNull();
    expect(await heartbeat(pool.db, running(await the.process()), TIMES)).toMatchObject({ backendPid: pid });
  });
});

describe('due at once', () => {
  /** With a clock whose milliseconds would be rounded up. */
  const stillness = async <T>(work: (tx: Executor) => Promise<T>): Promise<T> =>
    the.open({ max: 1 }).transaction(async (tx) => {
      await tx.execute(sql`create schema still`);
      for (const clock of ['clock_timestamp', 'statement_timestamp'])
        await tx.execute(sql`create function still.${sql.raw(clock)}() returns timestamptz language sql stable
          as $$ select timestamptz '2026-01-02 03:04:05.6789Z' $$`);
      await tx.execute(sql`set local search_path = still, nightshift, pg_catalog`);
      const done = await work(tx);
      await tx.execute(sql`drop schema still cascade`);
      return done;
    });

  test('applies to a context that is woken at the same time', async () => {
    const contextId = await due();
    const [owner, other] = [await the.process(), await the.process()];
    const { lease } = (await claim(db(), contextId, owner)) ?? {};
    const row = await stillness(async (tx) => {
      await release(tx, { contextId, owner, epoch: lease?.epoch ?? null }, 0);
      return claim(tx, contextId, other);
    });
    expect(row?.lease.epoch).toBe(3);
  });

  test('applies to the sweep that took it from a dead process', async () => {
    const contextId = await due();
    const owner = await the.process();
    await claim(db(), contextId, owner);
    await unregister(db(), owner);
    const found = await stillness(async (tx) => {
      await revoke(tx, 10);
      const asked = { after: null, perTenant: 10, onlyOverdue: true, passBy: [] };
      return (await readRunnable(tx, asked)).byTenant.get(DEFAULT_TENANT)?.get('');
    });
    expect(found).toMatchObject([{ contextId }]);
  });
});

describe('due work', () => {
  /** Longer than any test takes. */
  const AGAIN_MS = 3_600_000;

  const later = async (contextId: ContextId) => set(contextId, `next_check_at = now() - interval '1 second'`);

  const waits = (contextId: ContextId) => set(contextId, `scheduling_status = 'waiting'`);

  test('is taken once its wait is over, and keeps its place', async () => {
    const contextId = await due();
    await set(contextId, `scheduling_status = 'waiting', next_check_at = now() + interval '1 hour'`);
    expect(await takeDue(db(), { most: 10, againMs: AGAIN_MS, passBy: [] })).toEqual([]);
    await later(contextId);
    const before = await the.row(contextId);
    expect(await takeDue(db(), { most: 10, againMs: AGAIN_MS, passBy: [] })).toEqual([{ kind: 'runnable', contextId }]);
    expect(await the.row(contextId)).toMatchObject({
      scheduling_status: 'runnable',
      next_check_at: before.next_check_at,
    });
    expect(await takeDue(db(), { most: 10, againMs: AGAIN_MS, passBy: [] })).toEqual([]);
  });

  test('a wait that is over can be claimed', async () => {
    const contextId = await due();
    await set(contextId, `scheduling_status = 'waiting', next_check_at = now() - interval '1 second'`);
    expect(await takeDue(db(), { most: 10, againMs: AGAIN_MS, passBy: [] })).toEqual([{ kind: 'runnable', contextId }]);
    expect(await claim(db(), contextId, await the.process())).not.toBeNull();
  });

  test('an owner that did not answer is reported separately', async () => {
    const contextId = await due();
    await the.claimed(contextId);
    await later(contextId);
    expect(await takeDue(db(), { most: 10, againMs: AGAIN_MS, passBy: [] })).toEqual([
      { kind: 'unanswered', contextId },
    ]);
  });

  test('two sweeps share it: nothing is taken twice, and a locked row is skipped', async () => {
    const contexts = await Promise.all(Array.from({ length: 20 }, due));
    for (const contextId of contexts) {
      await waits(contextId);
      await later(contextId);
    }
    const [one, other] = [the.open({ max: 1 }), the.open({ max: 1 })];
    const taken = await one.transaction(async (tx) => {
      const first = await takeDue(tx, { most: 5, againMs: AGAIN_MS, passBy: [] });
      const second = await takeDue(other.db, { most: 100, againMs: AGAIN_MS, passBy: [] });
      expect(second).toHaveLength(15);
      return [...first, ...second];
    });
    expect(taken.map(({ contextId }) => contextId).sort()).toEqual([...contexts].sort());
  });

  test('no more than the limit are taken, although the planner expects a single row', async () => {
    const contexts = [await due()];
    // With these statistics it looks for due contexts again for each context.
    await the.rows('analyze contexts');
    for (let count = 1; count < 8; count += 1) contexts.push(await due());
    for (const contextId of contexts) {
      await waits(contextId);
      await later(contextId);
    }
    expect(await takeDue(db(), { most: 3, againMs: AGAIN_MS, passBy: [] })).toHaveLength(3);
  });
});
