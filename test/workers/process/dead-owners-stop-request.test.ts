// A stop request whose lease owner died is settled by a sweep at once: it needs no slot, and is not delayed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelJob } from '../../../src/commands/jobs/cancel-job.ts';
import { perform } from '../../../src/commands/perform.ts';
import { DEFAULT_TENANT } from '../../../src/core/ids.ts';
import { claim } from '../../../src/db/run/claims.ts';
import { unregister } from '../../../src/db/processes/processes.ts';
import { Registry } from '../../../src/workers/process/registry.ts';
import { runContext } from '../../../src/workers/run/run-context.ts';
import type { WorkerState } from '../../../src/workers/process/ports.ts';
import { given, type Given } from '../../db/database-fixture.ts';
import { slotsOf, sweep, together, workerState } from '../../db/worker-state.ts';
import { tagOf } from '../../services/statements.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

async function worker(slots: number): Promise<WorkerState> {
  const id = await the.process();
  return { ...workerState(the), registry: new Registry(), slots: slotsOf(slots), identity: () => id };
}

test.each([0, 1])('a stop request of a dead owner is settled with %d slots, after deaths in a row', async (slots) => {
  const { contextId } = await the.context();
  const jobId = await the.submit(contextId);
  const next = await the.submit(contextId);
  await runContext(await worker(1), contextId);
  await the.rows(`update contexts set scheduling_status = 'runnable', lease_owner = null, next_check_at = now(), failed_claims = 3
    where id = '${contextId}'`);
  const holder = await the.process();
  expect(await claim(the.database.db, contextId, holder)).not.toBeNull();
  const ports = the.ports();
  await perform(ports, cancelJob(ports, { tenantId: DEFAULT_TENANT, jobId, reason: 'enough', by: null }));
  expect(await the.rows(`select status from jobs where id = '${jobId}'`)).toEqual([{ status: 'running' }]);
  await unregister(the.database.db, holder);
  const sweeper = await worker(slots);
  await sweep(sweeper);
  expect(
    await the.rows(
      `select status, stop_reason, stop_delivered_at is not null as received from jobs where id = '${jobId}'`,
    ),
  ).toEqual([{ status: 'cancelled', stop_reason: 'enough', received: true }]);
  expect(await the.rows(`select status from jobs where id = '${next}'`)).toEqual([{ status: 'queued' }]);
  expect(await the.row(contextId)).toMatchObject({ scheduling_status: 'runnable', lease_owner: null });
  await sweeper.registry.emptied();
});

test('one that cannot be settled does not keep a sweep from starting what is runnable', async () => {
  const [stopping, other] = await Promise.all([the.context(), the.context()]);
  const jobId = await the.submit(stopping.contextId);
  await runContext(await worker(1), stopping.contextId);
  await the.rows(`update jobs set stop_kind = 'cancel', stop_requested_at = now() where id = '${jobId}'`);
  await the.rows(`update contexts set scheduling_status = 'waiting', lease_owner = null,
    next_check_at = now() - interval '1 second' where id = '${stopping.contextId}'`);
  const next = await the.submit(other.contextId);
  // Before the queued jobs of the tests above: there is one slot.
  await the.rows(`update contexts set next_check_at = now() - interval '1 hour' where id = '${other.contextId}'`);
  let failed = 0;
  const database = the.open({
    max: 2,
    hook: (text) => {
      if (tagOf(text) !== 'contexts.take_unowned') return;
      failed += 1;
      throw new Error('this context cannot be settled');
    },
  });
  const id = await the.process();
  const state = together({ ...workerState(the), database, slots: slotsOf(1), identity: () => id });
  await sweep(state);
  await state.registry.emptied();
  expect(failed).toBeGreaterThan(0);
  expect(await the.rows(`select status from jobs where id = '${next}'`)).not.toEqual([{ status: 'queued' }]);
});
