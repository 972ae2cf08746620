// Steps and other transactions at once: no deadlock, and nothing begins for a call that has ended.
import { expect, test } from 'vitest';
import { startedBefore } from '../../../src/commands/calls/started-step.ts';
import { loadSteps, lockJobOf, storeStep } from '../../../src/db/calls/tool-steps.ts';
import { tagOf } from '../../services/statements.ts';
import { says } from '../worker-fleet.ts';
import { runningCall, startStepping } from './stepping.ts';
import { traceParentOfJob } from '../../../src/core/tracing/trace-parent.ts';

test('a call that starts work and the deletion of its worker do not wait for each other', async () => {
  const { of, call, end } = await runningCall();
  const { starting } = await of.database.transaction(async (tx) => {
    // As the deletion of a worker: the context is locked, then its jobs are deleted, then itself.
    await tx.execute(`update contexts set control_seq = control_seq + 1 where id = '${call.contextId}'`);
    await tx.execute(`delete from jobs where context_id = '${call.contextId}'`);
    const starting = of.database.transaction((other) => lockJobOf(other, call));
    starting.catch(() => undefined);
    await of.until(async () => {
      const rows = await of.query(`select 1 from pg_stat_activity where wait_event_type = 'Lock'
        and query like '%jobs.lock_starting%' and pid <> pg_backend_pid() and datname = current_database()`);
      return rows.length > 0;
    });
    await tx.execute(`delete from contexts where id = '${call.contextId}'`);
    return { starting };
  });
  expect(await starting).toBeNull();
  end();
});

test('a call that has ended reads, stores and starts nothing, although its job goes on', async () => {
  const { of, call, end } = await runningCall();
  const { db } = of.database;
  await of.query(`update tool_calls set status = 'failed', finished_at = now() where id = '${call.toolCallId}'`);
  expect(await loadSteps(db, call)).toBeNull();
  expect(await storeStep(db, call, { name: 'a', value: 1, bytes: 1 })).toBeNull();
  expect(await of.database.transaction((tx) => lockJobOf(tx, call))).toBeNull();
  expect(await of.query('select name from tool_steps')).toEqual([]);
  await of.query(`update tool_calls set status = 'pending', finished_at = null where id = '${call.toolCallId}'`);
  expect(await storeStep(db, call, { name: 'a', value: 1, bytes: 1 })).toEqual({ value: 1 });
  end();
});

test('a step of another kind under the name counts as found: nothing is started', async () => {
  const { of, call, end } = await runningCall();
  const traceParent = traceParentOfJob(call.jobId);
  for (const [name, value] of Object.entries({ text: 'x', nothing: null, list: [1] })) {
    await storeStep(of.database.db, call, { name, value, bytes: 9 });
    expect(await startedBefore(of.database.db, { ...call, name, traceParent })).toEqual({ value });
  }
  expect(await startedBefore(of.database.db, { ...call, name: 'other', traceParent })).toBeNull();
  end();
});

test('a step that waits for the database is given up when its call times out', async () => {
  const failed = Promise.withResolvers<string>();
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  let isAway = true;
  const of = await startStepping(
    async ({ step }) => {
      await step('a', () => 1).then(
        () => failed.resolve('stored'),
        (error: unknown) => failed.resolve(error instanceof Error ? error.name : '?'),
      );
      return 'late';
    },
    {
      timeoutMs: 100,
      hook: (text) => {
        if (isAway && tagOf(text) === 'tool_steps.store')
          throw Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' });
      },
      model: async ({ messages }) => {
        if (messages.length === 1) return says('', { name: 'work', input: {} });
        asked.resolve();
        await go.promise;
        return says('done');
      },
    },
  );
  const { jobId } = await of.begin('go');
  await asked.promise;
  isAway = false;
  expect(await failed.promise).toBe('TimeoutError');
  expect(await of.query('select name from tool_steps')).toEqual([]);
  go.resolve();
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
});
