// Receipts that a dead process left over: they are compared with the outbox, and those of an outbox that no process has any
// more are deleted in the end.
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, onTestFinished, test } from 'vitest';
import { localBus } from '../../../src/bus/local.ts';
import type { JobId, OutboxId } from '../../../src/core/ids.ts';
import { RECEIPT_DAYS, addReceipts, findReceipts, forgetReceipts } from '../../../src/db/submissions/receipts.ts';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import { runHousekeeping } from '../../../src/workers/process/housekeeper.ts';
import { OutboxRelay } from '../../../src/workers/outbox/outbox-relay.ts';
import { createWorkerMetrics } from '../../../src/workers/process/metrics/metrics.ts';
import { ids } from '../../db/database-fixture.ts';
import { newWorker } from '../../db/submissions/submissions-fixture.ts';
import { workerState } from '../../db/worker-state.ts';
import { until } from '../../e2e/rig/until.ts';
import { outboxOfFile, portsOf, receipts, service, submit, the } from './relay-fixture.ts';

outboxOfFile();

const add = (outboxId: OutboxId, positions: readonly number[]) =>
  addReceipts(
    the.database.db,
    outboxId,
    positions.map((position) => ({ position, jobId: ids.next<JobId>() })),
  );

const makeOld = (days: number) => the.rows(`update outbox_receipts set seen_at = now() - interval '${days} days'`);

const isFresh = async (): Promise<boolean> =>
  (await the.rows("select 1 from outbox_receipts where seen_at < now() - interval '1 day'")).length === 0;

/** Looks at once, and then not for an hour. */
async function startRelay() {
  const { outbox, settings, id } = await portsOf({ tenants: ['asleep'] });
  const metrics = createWorkerMetrics({ running: 0, capacity: 0 }, [], { registry: new Registry() });
  const log = pino({ level: 'silent' });
  const state = { database: the.database, bus: localBus(), log, metrics, random: () => 0.5 };
  const relay = new OutboxRelay(state, settings, outbox, 3_600_000);
  relay.start();
  onTestFinished(() => relay.stop());
  return id;
}

test('a relay removes those whose rows are gone, and keeps the others from being forgotten', async () => {
  await ensureTenant(the.database.db, 'asleep');
  await the.rows("update tenants set status = 'suspended' where name = 'asleep'");
  await submit(newWorker(), 'asleep');
  const [row] = await service.sql`select position::int as position from nightshift.outbox`;
  const position = Number(row?.['position']);
  const { id } = await portsOf();
  await add(id, [position, position + 1, position + 2]);
  await makeOld(RECEIPT_DAYS - 1);
  await startRelay();
  await until('the receipts', async () => (await receipts()) === 1);
  await until('a new date', isFresh);
  expect(await findReceipts(the.database.db, id, { after: 0, most: 10 })).toEqual([position]);
});

test('they are read in their order, from a position on', async () => {
  const { id } = await portsOf();
  await add(id, [30, 10, 50]);
  await add(id, [40, 20]);
  const { db } = the.database;
  expect(await findReceipts(db, id, { after: 0, most: 2 })).toEqual([10, 20]);
  expect(await findReceipts(db, id, { after: 20, most: 9 })).toEqual([30, 40, 50]);
});

test(`those that no process has found for ${RECEIPT_DAYS} days are deleted, the oldest first`, async () => {
  const gone = randomUUID() as OutboxId;
  const { db } = the.database;
  await add(gone, [1, 2, 3]);
  await makeOld(RECEIPT_DAYS + 1);
  await the.rows(`update outbox_receipts set seen_at = seen_at - interval '1 day' where position = 2`);
  await add(gone, [4]);
  await the.rows(`update outbox_receipts set seen_at = now() - interval '${RECEIPT_DAYS - 1} days' where position = 4`);
  expect(await forgetReceipts(db, 1)).toBe(1);
  expect(await findReceipts(db, gone, { after: 0, most: 9 })).toEqual([1, 3, 4]);
  await runHousekeeping({ ...workerState(the), expiry: { timeouts: {}, archivedDays: null, workspaces: null } });
  expect(await forgetReceipts(db, 10)).toBe(0);
  expect(await findReceipts(db, gone, { after: 0, most: 9 })).toEqual([4]);
});
