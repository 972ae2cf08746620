// Steps of a tool are stored under the lease of its run, and are there for the next execution of its call.
import { expect, test } from 'vitest';
import { v7 } from 'uuid';
import {
  DEFAULT_TENANT,
  parseId,
  type ContextId,
  type JobId,
  type ProcessId,
  type ToolCallId,
} from '../../../src/core/ids.ts';
import { listSteps } from '../../../src/db/read/jobs/step-views.ts';
import { findToolCall } from '../../../src/db/read/jobs/tool-call-views.ts';
import { addStep, loadSteps, storeStep, type RunningCall } from '../../../src/db/calls/tool-steps.ts';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import { tagOf } from '../../services/statements.ts';
import { transcript } from '../worker-fleet.ts';
import { loseLease, runningCall, startStepping } from './stepping.ts';

const STEPS = 'select name, result, bytes, tenant_id from tool_steps order by name';

test('results are stored with their call, whatever JSON they are', async () => {
  const values = [null, '42', 42, true, [], { a: ['\0', '\ud800', '\uF8FE'], z: 1, b: 2 }];
  const of = await startStepping(async ({ step }) => {
    const seen = [];
    for (const [at, value] of values.entries()) seen.push(await step(`${at}`, () => value));
    return seen;
  });
  const { contextId, jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect((await of.query(STEPS)).map((row) => row['result'])).toEqual(values.map((value) => ({ value })));
  expect(transcript(await of.history(contextId)).at(-2)).toBe(`a1 tool: ←${JSON.stringify(values)}`);
});

test('a call and its step in the timeline list what is stored, without the results: the last 100', async () => {
  const of = await startStepping(async ({ step }) => {
    for (let n = 1; n <= 101; n += 1) await step(`step ${String(n).padStart(3, '0')}`, () => 'secret');
    return 'done';
  });
  const { contextId, jobId } = await of.begin('go');
  await of.ended(jobId);
  const timeline = await listSteps(of.database.db, DEFAULT_TENANT, jobId, { after: 0, limit: 10 });
  const [model, tool, last] = timeline?.steps.map(({ toolSteps }) => toolSteps) ?? [];
  expect([model, last]).toEqual([null, null]);
  expect(tool).toHaveLength(100);
  expect([tool?.[0], tool?.[99]]).toEqual(
    ['step 002', 'step 101'].map((name) => ({ name, endedAt: expect.any(Number), bytes: 8 })),
  );
  const [row] = await of.query(`select id from calls where context_id = '${contextId}'`);
  const callId = parseId<ToolCallId>(String(row?.['id'])) ?? expect.fail();
  expect((await findToolCall(of.database.db, DEFAULT_TENANT, contextId, callId))?.toolSteps).toEqual(tool);
});

test('a call that lost its process goes on after its stored steps, and the old one stores nothing more', async () => {
  const ran: string[] = [];
  const first = Promise.withResolvers<void>();
  const late = Promise.withResolvers<string>();
  let executions = 0;
  const of = await startStepping(
    async ({ step, attempt }) => {
      executions += 1;
      const mine = executions;
      const run = (name: string) => step(name, () => (ran.push(`${name} ${mine}`), `${name} ${mine}`));
      const a = await run('a');
      const b = await step('b', async () => {
        ran.push(`b ${mine}`);
        if (mine === 1) {
          await loseLease(of, accepted.contextId);
          first.resolve();
          await second.promise;
        }
        return `b ${mine}`;
      }).catch((error: unknown) => {
        late.resolve(String(error));
        throw error;
      });
      if (mine === 2) second.resolve();
      return [a, b, await run('c'), attempt];
    },
    { processes: 2 },
  );
  const second = Promise.withResolvers<void>();
  const accepted = await of.begin('go');
  await first.promise;
  expect(await of.ended(accepted.jobId)).toMatchObject({ status: 'completed', attempt: 1 });
  expect(await late.promise).toMatch(/AbortError/);
  expect(ran).toEqual(['a 1', 'b 1', 'b 2', 'c 2']);
  expect(transcript(await of.history(accepted.contextId))).toEqual([
    'u1 user: go',
    'a1 assistant: →work',
    'a1 tool: ←["a 1","b 2","c 2",1]',
    'a1 assistant: done',
  ]);
  expect((await of.query(STEPS)).map((row) => row['result'])).toEqual(
    ['a 1', 'b 2', 'c 2'].map((value) => ({ value })),
  );
});

test('a step of a cancelled job is not stored', async () => {
  const began = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<unknown>();
  const of = await startStepping(async ({ step }) => {
    await step('a', async () => {
      began.resolve();
      await end.promise;
    }).catch(failed.resolve);
    return 'late';
  });
  const { jobId } = await of.begin('go');
  await began.promise;
  await of.cancel(jobId);
  end.resolve();
  expect(await of.ended(jobId)).toMatchObject({ status: 'cancelled' });
  expect(String(await failed.promise)).toMatch(/AbortError/);
  expect(await of.query(STEPS)).toEqual([]);
});

test('a call that stores a step with each execution is no crash loop', async () => {
  let executions = 0;
  const of = await startStepping(async ({ step }) => {
    executions += 1;
    for (let n = 1; n <= 12; n += 1) {
      await step(`step ${n}`, () => executions);
      if (n === executions) {
        // As a claim of a process that dies leaves it.
        await of.query(`update contexts set failed_claims = failed_claims + 1`);
        await loseLease(of, accepted.contextId);
        await step('never stored', () => 0).catch(() => undefined);
        return '';
      }
    }
    return executions;
  });
  const accepted = await of.begin('go');
  expect(await of.ended(accepted.jobId)).toMatchObject({ status: 'completed' });
  expect(executions).toBe(13);
});

test('a call that kills its process after each step stays suspect, and is claimed apart from others', async () => {
  const { of, call, end } = await runningCall();
  const { db } = of.database;
  const failedClaims = async (): Promise<unknown> => (await of.query('select failed_claims from contexts'))[0];
  await of.query('update contexts set failed_claims = 4');
  await storeStep(db, call, { name: 'a', value: 1, bytes: 1 });
  expect(await failedClaims()).toEqual({ failed_claims: 2 });
  await of.query('update contexts set failed_claims = 4');
  await of.database.transaction((tx) => addStep(tx, call, { name: 'b', value: 1, bytes: 1 }));
  expect(await failedClaims()).toEqual({ failed_claims: 2 });
  await of.query('update contexts set failed_claims = 1');
  await storeStep(db, call, { name: 'c', value: 1, bytes: 1 });
  expect(await failedClaims()).toEqual({ failed_claims: 1 });
  end();
});

test('calls without steps send no statement for them', async () => {
  const sent: string[] = [];
  const of = await startStepping(() => 'done', { hook: (text) => void sent.push(tagOf(text) ?? '') });
  const { jobId } = await of.begin('go');
  await of.ended(jobId);
  expect(sent.filter((tag) => tag.startsWith('tool_steps'))).toEqual([]);
});

test('a statement that is sent again returns what was stored first', async () => {
  const { of, call, end } = await runningCall();
  const { db } = of.database;
  expect(await storeStep(db, call, { name: 'a', value: 'first', bytes: 7 })).toEqual({ value: 'first' });
  expect(await storeStep(db, call, { name: 'a', value: 'second', bytes: 8 })).toEqual({ value: 'first' });
  expect(await loadSteps(db, call)).toEqual(new Map([['a', { value: 'first', bytes: 7 }]]));
  expect(await of.query(STEPS)).toEqual([{ name: 'a', result: { value: 'first' }, bytes: 7, tenant_id: 1 }]);
  end();
});

test('only the owner of the context stores steps, for an active job of its tenant that was not told to end', async () => {
  const { of, call, end } = await runningCall();
  const { db } = of.database;
  const step = { name: 'a', value: 1, bytes: 1 };
  const another = await ensureTenant(db, 'another');
  const strange: Partial<RunningCall>[] = [
    { owner: v7() as ProcessId },
    { epoch: call.epoch + 1 },
    { tenantId: another },
    { contextId: v7() as ContextId },
    { jobId: v7() as JobId },
  ];
  for (const one of strange) {
    expect(await loadSteps(db, { ...call, ...one })).toBeNull();
    expect(await storeStep(db, { ...call, ...one }, step)).toBeNull();
  }
  // The run raised its own epoch, after an append in doubt.
  await of.query(`update contexts set lease_epoch = lease_epoch + 1 where id = '${call.contextId}'`);
  expect(await storeStep(db, call, step)).toEqual({ value: 1 });
  await of.query(`update contexts set lease_epoch = lease_epoch - 1 where id = '${call.contextId}'`);
  await of.query(`update jobs set stop_kind = 'cancel', stop_requested_at = now() where id = '${call.jobId}'`);
  expect(await loadSteps(db, call)).toBeNull();
  expect(await storeStep(db, call, { ...step, name: 'b' })).toBeNull();
  await of.query(`update jobs set stop_kind = null, stop_requested_at = null where id = '${call.jobId}'`);
  end();
  await of.ended(call.jobId);
  expect(await storeStep(db, call, { ...step, name: 'c' })).toBeNull();
  expect((await of.query(STEPS)).map((row) => row['name'])).toEqual(['a']);
});

test('a stop request that commits while a step waits for the row is seen by it', async () => {
  const { of, call, end } = await runningCall();
  const { db } = of.database;
  const stored = await of.database.transaction(async (tx) => {
    await tx.execute(`update contexts set control_seq = control_seq + 1 where id = '${call.contextId}'`);
    await tx.execute(`update jobs set stop_kind = 'cancel', stop_requested_at = now() where id = '${call.jobId}'`);
    const storing = storeStep(db, call, { name: 'a', value: 1, bytes: 1 });
    await of.until(async () => {
      const rows = await of.query(`select 1 from pg_stat_activity where wait_event_type = 'Lock'
        and query like '%tool_steps.store%' and pid <> pg_backend_pid() and datname = current_database()`);
      return rows.length > 0;
    });
    return { storing };
  });
  expect(await stored.storing).toBeNull();
  expect(await of.query(STEPS)).toEqual([]);
  await of.query(`update jobs set stop_kind = null, stop_requested_at = null where id = '${call.jobId}'`);
  end();
});
