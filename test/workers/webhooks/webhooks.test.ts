// Events of jobs reach the receivers of webhooks: which, in which order, and with which body.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withWebhook } from '../../../src/commands/webhooks/with-webhook.ts';
import { submitInput } from '../../../src/commands/inputs/submit-input.ts';
import { removeWebhook } from '../../../src/commands/webhooks/change-webhook.ts';
import { DEFAULT_TENANT, type JobId } from '../../../src/core/ids.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { forgetWebhooks, nameWebhook } from '../../../src/db/webhooks/webhooks.ts';
import { ids } from '../../../src/platform/ids.ts';
import { postedInput } from '../../db/inputs.ts';
import { fails, result, says, startFleet, type Fleet, type FleetOptions } from '../worker-fleet.ts';
import { WEBHOOKS, addHook, arrivals, deliveryRows, hookRow } from './hooks.ts';
import { accepts, startReceiver, type Receiver } from './receiver.ts';

let fleet: Fleet;
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.close();
  await fleet.close();
});

async function start(options: Partial<FleetOptions> = {}): Promise<void> {
  fleet = await startFleet({ model: () => says('the answer'), webhooks: WEBHOOKS, ...options });
}

const received = (count: number) => fleet.until(() => receiver.received.length >= count);

test('a job: started and finished, in order, signed, with its output', async () => {
  await start();
  const id = await addHook(fleet, receiver);
  const { contextId, workerId } = await fleet.createContext();
  const { jobId } = await fleet.post(contextId, 'go');
  await received(2);
  expect(arrivals(receiver, jobId)).toEqual([
    ['job.started', 1],
    ['job.finished', 2],
  ]);
  expect(receiver.received.map(({ isSigned }) => isSigned)).toEqual([true, true]);
  const [started, finished] = receiver.received;
  expect(started?.body).toEqual({
    type: 'job.started',
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    data: {
      job_id: jobId,
      seq: 1,
      status: 'running',
      context_id: contextId,
      worker_id: workerId,
      worker_name: 'test',
      role: null,
      user: null,
      metadata: {},
      created_at: expect.any(String),
      started_at: expect.any(String),
      omitted: [],
    },
  });
  expect(finished?.body.data).toMatchObject({
    status: 'completed',
    output: { message_id: expect.any(String), text: 'the answer', truncated: false },
    error: null,
    finished_at: expect.any(String),
  });
  await fleet.until(async () => (await deliveryRows(fleet, id)).every(({ status }) => status === 'delivered'));
  expect(await deliveryRows(fleet, id)).toMatchObject([
    { seq: 1, attempts: 1, response_status: 204, error: null, body: started?.text },
    { seq: 2, attempts: 1, response_status: 204, error: null, body: finished?.text },
  ]);
  expect(await fleet.query('select 1 from webhook_outbox')).toEqual([]);
  expect(await hookRow(fleet, id)).toMatchObject({ failing_since: null, failures: 0, lease_owner: null, due_at: null });
});

test('a long output is cut, and keeps what PostgreSQL cannot store', async () => {
  const text = `\0\uF8FE😀${'\0x'.repeat(4_000)}`;
  await start({ model: () => says(text) });
  await addHook(fleet, receiver, { events: ['job.finished'] });
  const { contextId } = await fleet.createContext();
  await fleet.post(contextId, 'go');
  await received(1);
  expect(receiver.received[0]?.body.data.output).toMatchObject({ text: text.slice(0, 4_000), truncated: true });
});

test('many deliveries are made in several transactions, in order', async () => {
  await start();
  const { contextId } = await fleet.createContext();
  for (let count = 0; count < 10; count += 1) await fleet.ended((await fleet.post(contextId, 'go')).jobId);
  const hooks = await Promise.all(Array.from({ length: 40 }, () => addHook(fleet, receiver)));
  await fleet.query(`insert into webhook_outbox (tenant_id, context_id, seq)
    select tenant_id, context_id, seq from event_batches order by seq`);
  await fleet.until(async () => (await fleet.query('select 1 from webhook_outbox')).length === 0);
  const rows = await fleet.query('select * from webhook_deliveries');
  expect(rows.length).toBe(hooks.length * 20);
  // The time of the transaction.
  const together = Map.groupBy(rows, (row) => String(row['created_at']));
  expect(Math.max(...[...together.values()].map((some) => some.length))).toBeLessThanOrEqual(300);
  for (const { type, seq } of rows) expect(type).toBe(seq === 1 ? 'job.started' : 'job.finished');
});

test('a deleted webhook leaves no name behind', async () => {
  await start();
  const id = await addHook(fleet, receiver);
  const { contextId } = await fleet.createContext();
  const { db } = fleet.ports.database;
  const jobId = ids.next<JobId>();
  await nameWebhook(db, { tenantId: DEFAULT_TENANT, contextId, jobId, webhookId: id });
  await forgetWebhooks(db, 10);
  expect((await fleet.query('select 1 from job_webhooks')).length).toBe(1);
  await fleet.perform(removeWebhook({ tenantId: DEFAULT_TENANT, id }));
  await fleet.query(`update webhooks set deleted_at = now() - interval '2 hours'`);
  expect(await forgetWebhooks(db, 10)).toBe(1);
  expect(await fleet.query('select 1 from job_webhooks union all select 1 from webhooks')).toEqual([]);
});

test('approvals, and what waits for a person', async () => {
  let asked = false;
  await start({
    tools: { pay: { approval: 'always', effect: 'once', execute: () => result('paid') } },
    model: () => {
      const first = !asked;
      asked = true;
      return first ? says('', { name: 'pay', input: { amount: 5 } }) : says('done');
    },
  });
  await addHook(fleet, receiver);
  const { contextId } = await fleet.createContext();
  const { jobId } = await fleet.post(contextId, 'pay');
  await received(3);
  await fleet.judge(contextId);
  await fleet.ended(jobId);
  await received(5);
  expect(arrivals(receiver, jobId)).toEqual([
    ['job.started', 1],
    ['job.waiting', 2],
    ['approval.requested', 3],
    ['approval.resolved', 4],
    ['job.finished', 5],
  ]);
  const [, waiting, requested, resolved] = receiver.received;
  expect(waiting?.body.data.waiting_for).toEqual([{ kind: 'approval', tool_call_id: expect.any(String), name: 'pay' }]);
  expect(requested?.body.data.approval).toMatchObject({ name: 'pay', input: { amount: 5 } });
  expect(resolved?.body.data.approval).toMatchObject({ decision: 'approve', by: 'person' });
});

test('a failed job, and its worker; a queued job that is cancelled', async () => {
  await start({ model: () => fails({ class: 'auth', message: 'no', retryAfterMs: null }) });
  await addHook(fleet, receiver);
  const { contextId } = await fleet.createContext();
  const { jobId } = await fleet.post(contextId, 'go');
  await received(3);
  expect(arrivals(receiver, jobId).map(([type]) => type)).toEqual(['job.started', 'job.finished', 'worker.failed']);
  expect(receiver.received.at(-1)?.body.data).toMatchObject({ status: 'failed', error: { code: 'provider_auth' } });
  await fleet.query(`update contexts set stopped = true where id <> '${contextId}'`);
  const other = await fleet.createContext();
  await fleet.query(`update contexts set scheduling_status = 'waiting', next_check_at = now() + interval '1 hour'
    where id = '${other.contextId}'`);
  const queued = await fleet.post(other.contextId, 'later');
  await fleet.cancel(queued.jobId);
  await received(4);
  expect(arrivals(receiver, queued.jobId)).toEqual([['job.finished', 1]]);
  expect(receiver.received.at(-1)?.body.data.status).toBe('cancelled');
});

test('events and filters; a webhook that a message names gets job.finished of that job anyway', async () => {
  await start();
  const id = await addHook(fleet, receiver, { events: ['job.started'], filter: { metadata: { order: 7 } } });
  const { contextId } = await fleet.createContext();
  const plain = await fleet.post(contextId, 'no');
  await fleet.ended(plain.jobId);
  const post = (metadata: JsonObject) => submitInput(fleet.ports, { ...postedInput({ metadata }), contextId });
  const matching = await fleet.perform(post({ order: 7, more: true }));
  await fleet.ended(matching.jobId);
  const named = await fleet.perform(withWebhook(post({}), { tenantId: DEFAULT_TENANT, id }, (accepted) => accepted));
  await fleet.ended(named.jobId);
  await received(2);
  await fleet.until(async () => (await fleet.query('select 1 from webhook_outbox')).length === 0);
  expect(receiver.received.map(({ jobId, type, seq }) => [jobId, type, seq])).toEqual([
    [matching.jobId, 'job.started', 1],
    [named.jobId, 'job.finished', 1],
  ]);
  expect(await fleet.query('select 1 from job_webhooks')).toEqual([]);
});

test('a tenant without webhooks writes nothing; one that was made while a job runs gets all of the next job', async () => {
  let finish = (): void => undefined;
  const running = new Promise<void>((resolve) => (finish = resolve));
  let isFirst = true;
  await start({
    model: async () => {
      if (isFirst) await running;
      isFirst = false;
      return says('ok');
    },
  });
  const { contextId } = await fleet.createContext();
  const { jobId } = await fleet.post(contextId, 'one');
  await fleet.until(async () => (await fleet.job(jobId))['status'] === 'running');
  await addHook(fleet, receiver);
  // Posted after it was made: all its events are sent, although a process holds the context since before.
  const next = await fleet.post(contextId, 'two');
  finish();
  await fleet.until(() => arrivals(receiver, next.jobId).length >= 2);
  expect(arrivals(receiver, next.jobId)).toEqual([
    ['job.started', 1],
    ['job.finished', 2],
  ]);
});

test('a deleted context leaves no delivery, also of what is not made yet', async () => {
  await start();
  receiver.behave(accepts);
  const id = await addHook(fleet, receiver);
  const { contextId, workerId } = await fleet.createContext();
  const { jobId } = await fleet.post(contextId, 'go');
  await fleet.ended(jobId);
  const { deleteWorker } = await import('../../../src/commands/workers/delete-worker.ts');
  await deleteWorker(fleet.ports, DEFAULT_TENANT, workerId);
  await fleet.until(async () => (await fleet.query('select 1 from webhook_outbox')).length === 0);
  expect(await deliveryRows(fleet, id)).toEqual([]);
});
