// Worker processes as the operator sees them: what was asked of them, and which of those that ended are still known.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ProcessId } from '../../../src/core/ids.ts';
import { listProcesses } from '../../../src/db/read/installation/process-views.ts';
import { requestStatus } from '../../../src/db/write/request-status.ts';
import { claim } from '../../../src/db/run/claims.ts';
import { leaveFigures } from '../../../src/db/processes/figures.ts';
import { declareDead, forgetEnded, heartbeat, unregister } from '../../../src/db/processes/processes.ts';
import { TIMES, given, ids, type Given } from '../database-fixture.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());
beforeEach(async () => {
  await the.rows('truncate contexts, workers, branches, jobs, messages, event_batches, tool_calls, processes cascade');
});

const db = () => the.database.db;

const list = (filter: Partial<Parameters<typeof listProcesses>[2]> = {}) =>
  listProcesses(db(), TIMES, { isLive: null, before: null, limit: 100, figure: 'slots', ...filter });

describe('processes that ended', () => {
  test('an hour later the newest hundred of a week are kept, without their metrics', async () => {
    await db().execute(sql`
      insert into processes (id, lock_key, host, pid, version, tools, roles, models, metrics, dead_at, end_reason)
      select gen_random_uuid(), n, 'h' || n, 1, '0', '{}', '{}', '{}', '[]'::jsonb,
        now() - case when n > 110 then interval '8 days' else interval '1 hour' + n * interval '1 second' end, 'stopped'
      from generate_series(1, 115) n`);
    await unregister(db(), await the.process());
    await forgetEnded(db());
    const left = await the.rows(
      `select substr(host, 2)::int as n, metrics from processes where host <> 'h' order by 1`,
    );
    expect(left).toEqual(Array.from({ length: 100 }, (_, at) => ({ n: at + 1, metrics: null })));
    expect(await list()).toHaveLength(100);
    await forgetEnded(db());
    expect(await the.rows('select 1 from processes')).toHaveLength(101);
  });

  test('all of the last hour are kept with their metrics, and others while they own a lease', async () => {
    const [owner, recent] = [await the.process(), await the.process()];
    const { contextId } = await the.context();
    await the.submit(contextId);
    await claim(db(), contextId, owner);
    await leaveFigures(db(), recent, []);
    await the.rows(`update processes set dead_at = now() - interval '8 days' where id = '${owner}'`);
    await unregister(db(), recent);
    await forgetEnded(db());
    expect(await the.rows('select id, metrics from processes order by id')).toEqual([
      { id: owner, metrics: null },
      { id: recent, metrics: [] },
    ]);
    await the.rows(`update contexts set lease_owner = null, scheduling_status = 'runnable', next_check_at = now()`);
    await forgetEnded(db());
    expect(await the.rows('select id from processes')).toEqual([{ id: recent }]);
  });

  test('are stopped if they unregistered, and lost if another declared them dead, or soon will', async () => {
    const [judge, stopped, declared] = [
      await the.process(),
      await the.process(),
      await the.process({ silentMs: 3_600_000 }),
    ];
    await unregister(db(), stopped);
    expect(await declareDead(db(), TIMES, judge)).toEqual([declared]);
    await unregister(db(), declared);
    const silent = await the.process({ silentMs: 3_600_000 });
    const seen = (await list()).map(({ id, ended }) => [id, ended?.reason ?? null]);
    expect(seen).toEqual([
      [silent, 'lost'],
      [declared, 'lost'],
      [stopped, 'stopped'],
      [judge, null],
    ]);
    expect((await list({ isLive: true })).map(({ id }) => id)).toEqual([judge]);
    expect((await list({ isLive: false, limit: 2 })).map(({ id }) => id)).toEqual([silent, declared]);
    expect((await list({ isLive: false, before: declared })).map(({ id }) => id)).toEqual([stopped]);
  });
});

describe('what the operator asks of a process', () => {
  const drainable = async (): Promise<ProcessId> => {
    const id = await the.process();
    await the.rows(`update processes set can_drain = true where id = '${id}'`);
    return id;
  };

  test('comes with its next heartbeat, and the heartbeat stores what it does', async () => {
    const id = await drainable();
    expect(await requestStatus(db(), id, 'paused')).toEqual({ kind: 'done', changed: true });
    expect(await requestStatus(db(), id, 'paused')).toEqual({ kind: 'done', changed: false });
    expect((await list())[0]).toMatchObject({ status: 'running', requestedStatus: 'paused' });
    expect(await heartbeat(db(), { id, status: 'running' }, TIMES)).toMatchObject({ requested: 'paused' });
    await heartbeat(db(), { id, status: 'paused' }, TIMES);
    expect((await list())[0]).toMatchObject({ status: 'paused', requestedStatus: 'paused' });
  });

  test('a drain is final, and only for processes that may end', async () => {
    const [id, other] = [await drainable(), await the.process()];
    expect(await requestStatus(db(), other, 'draining')).toEqual({ kind: 'cannot_drain' });
    expect(await heartbeat(db(), { id: other, status: 'running' }, TIMES)).toMatchObject({ requested: 'running' });
    expect(await requestStatus(db(), id, 'draining')).toEqual({ kind: 'done', changed: true });
    expect(await requestStatus(db(), id, 'draining')).toEqual({ kind: 'done', changed: false });
    expect(await requestStatus(db(), id, 'running')).toEqual({ kind: 'draining' });
    expect(await requestStatus(db(), id, 'paused')).toEqual({ kind: 'draining' });
    expect(await heartbeat(db(), { id, status: 'running' }, TIMES)).toMatchObject({ requested: 'draining' });
  });

  test('one that drains after a signal goes on with it', async () => {
    const id = await drainable();
    await heartbeat(db(), { id, status: 'draining' }, TIMES);
    expect(await requestStatus(db(), id, 'paused')).toEqual({ kind: 'draining' });
    expect(await requestStatus(db(), id, 'running')).toEqual({ kind: 'draining' });
    expect(await requestStatus(db(), id, 'draining')).toEqual({ kind: 'done', changed: false });
    expect((await list())[0]).toMatchObject({ status: 'draining', requestedStatus: 'running' });
  });

  test('nothing is asked of one that ended, or that does not exist', async () => {
    const id = await drainable();
    await unregister(db(), id);
    expect(await requestStatus(db(), id, 'paused')).toEqual({ kind: 'ended' });
    expect(await requestStatus(db(), ids.next<ProcessId>(), 'paused')).toEqual({ kind: 'unknown' });
  });

  test('of requests at once each is applied or refused, and a drain stays', async () => {
    const id = await drainable();
    const asked = await Promise.all(
      (['draining', 'paused', 'running', 'draining'] as const).map((status) => requestStatus(db(), id, status)),
    );
    const kinds = asked.map(({ kind }) => kind);
    expect([kinds[0], kinds[3]]).toEqual(['done', 'done']);
    expect(['done', 'draining']).toEqual(expect.arrayContaining([kinds[1], kinds[2]]));
    expect((await list())[0]).toMatchObject({ requestedStatus: 'draining' });
  });
});
