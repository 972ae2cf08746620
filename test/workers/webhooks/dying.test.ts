// A delivery whose process dies before any statement of it: another process makes it, sends it, or sends it again.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeDeliveries } from '../../../src/commands/webhooks/make-deliveries.ts';
import { perform } from '../../../src/commands/perform.ts';
import type { ProcessId } from '../../../src/core/ids.ts';
import { openDatabase, type Database } from '../../../src/db/connection/client.ts';
import { leaseDue } from '../../../src/db/webhooks/sending.ts';
import { ids } from '../../../src/platform/ids.ts';
import { sendBatch } from '../../../src/workers/webhooks/send-batch.ts';
import { says, startFleet, type Fleet } from '../worker-fleet.ts';
import { WEBHOOKS, addHook, arrivals } from './hooks.ts';
import { startReceiver, type Receiver } from './receiver.ts';

let fleet: Fleet;
let receiver: Receiver;
beforeEach(async () => {
  fleet = await startFleet({ model: () => says('x'), processes: 0, webhooks: WEBHOOKS });
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.close();
  await fleet.close();
});

/** As one round of a worker process does it. No process is registered, so the lease of one that died is free at once. */
async function deliver(database: Database): Promise<void> {
  const { secretBox, receivers } = WEBHOOKS;
  if (secretBox === null) throw new Error('no secret');
  const log = { warn: () => undefined, info: () => undefined };
  const ports = { ...fleet.ports, database, ids, random: () => 0, secretBox, receivers, log };
  const owner = ids.next<ProcessId>();
  await perform(ports, makeDeliveries(ids, { most: 100 }));
  const request = { owner, most: 32, perTenant: 8, sending: [] };
  for (const webhook of await leaseDue(database.db, request))
    await sendBatch(ports, webhook, owner, new AbortController().signal);
}

/** It dies before the statement of this number, from 1; begin and commit count too. */
function dying(place: number): Database {
  let sent = 0;
  const hook = (): void => {
    sent += 1;
    if (sent >= place) throw new Error('died');
  };
  return openDatabase(fleet.url, { max: 1, hook });
}

/** A job that is cancelled while it is queued: its end is one event. */
async function endedJob(): Promise<string> {
  const { contextId } = await fleet.createContext();
  const { jobId } = await fleet.post(contextId, 'go');
  await fleet.cancel(jobId);
  return jobId;
}

test('it arrives, with one id, and is stored as delivered', async () => {
  await addHook(fleet, receiver);
  let deaths = 0;
  let twice = 0;
  for (let hasDied = true; hasDied;) {
    const jobId = await endedJob();
    const database = dying(deaths + 1);
    hasDied = await deliver(database).then(
      () => false,
      () => true,
    );
    await database.close(0);
    if (hasDied) {
      deaths += 1;
      await deliver(fleet.ports.database);
    }
    const arrived = arrivals(receiver, jobId);
    expect(arrived.length, `died before statement ${deaths}`).toBeGreaterThanOrEqual(1);
    expect([...new Set(arrived.map(([type, seq]) => `${type} ${seq}`))]).toEqual(['job.finished 1']);
    if (arrived.length > 1) twice += 1;
    const rows = await fleet.query(`select id, status, seq from webhook_deliveries where job_id = '${jobId}'`);
    const [first] = receiver.received.filter((one) => one.jobId === jobId);
    expect(rows).toEqual([{ id: first?.id, status: 'delivered', seq: 1 }]);
    expect(await fleet.query('select 1 from webhook_outbox')).toEqual([]);
  }
  // Making it, the lease, reading what is due, and storing the attempt.
  expect(deaths).toBeGreaterThan(12);
  // It arrives again only if its process died between sending it and storing that.
  expect(twice).toBeGreaterThan(0);
  expect(twice).toBeLessThan(deaths / 2 + 1);
  expect(receiver.received.every(({ isSigned }) => isSigned)).toBe(true);
});
