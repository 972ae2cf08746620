// Rows of an outbox become submissions exactly once and in their order, whatever dies, competes or is not valid.
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { DEFAULT_TENANT_NAME, type JobId } from '../../../src/core/ids.ts';
import { retryRefused } from '../../../src/db/outbox/install.ts';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import { readBacklog } from '../../../src/db/outbox/outbox-state.ts';
import { relayBatch } from '../../../src/workers/outbox/relay-batch.ts';
import { ids } from '../../db/database-fixture.ts';
import { newWorker } from '../../db/submissions/submissions-fixture.ts';
import {
  outboxOfFile,
  portsOf,
  receipts,
  relayAll,
  service,
  submit,
  submitted,
  submitText,
  the,
  turnAll,
} from './relay-fixture.ts';

outboxOfFile();

test('a row becomes a submission once, if the process dies before any statement or commit in either database', async () => {
  let deaths = 0;
  let before = 0;
  for (let place = 1; ; place += 1) {
    const jobs = [await submit(), await submit()];
    let sent = 0;
    const dying = await portsOf({}, () => {
      sent += 1;
      // A process that is dead sends nothing more.
      if (sent >= place) throw new Error('died');
    });
    await relayBatch(dying).catch(() => undefined);
    const became = await submitted();
    expect([[], jobs]).toContainEqual(became);
    // The job may have ended, and even be deleted, before another process relays what is left.
    await turnAll();
    await the.rows(`delete from jobs where id in ('${jobs.join("','")}')`);
    await relayAll();
    expect(await submitted()).toEqual(became.length === 0 ? jobs : []);
    expect(await service.rows()).toEqual([]);
    await the.rows('delete from submissions');
    if (sent < place) break;
    deaths += 1;
    if (became.length === 0) before += 1;
  }
  expect(before).toBeGreaterThan(8);
  // Before the deletion of the rows, its commit, and the deletion of the receipts.
  expect(deaths - before).toBe(3);
});

test('receipts go with the rows', async () => {
  await submit();
  await relayAll();
  expect(await receipts()).toBe(0);
});

test('several processes relay an outbox without losing, doubling or reordering rows', async () => {
  const contexts = await Promise.all(Array.from({ length: 3 }, () => the.context()));
  const jobs: JobId[] = [];
  for (let at = 0; at < 240; at += 1)
    jobs.push(await submit({ context_id: contexts[at % 3]?.contextId, input: { content: 'go' } }));
  const processes = await Promise.all(Array.from({ length: 4 }, () => portsOf()));
  while ((await service.rows()).length > 0) await Promise.all(processes.map((ports) => relayBatch(ports)));
  expect(await submitted()).toEqual(jobs);
  expect(await receipts()).toBe(0);
});

test('a worker and an input for its context are relayed together', async () => {
  const worker = newWorker({ user: 'alice' });
  const first = await submit(worker);
  const second = await submit({ context_id: worker.context_id, input: { content: 'more' } });
  await relayAll();
  expect(await submitted()).toEqual([first, second]);
  expect(await the.rows('select worker_id, user_name, creates_worker from submissions order by position')).toEqual([
    { worker_id: worker.worker_id, user_name: 'alice', creates_worker: true },
    { worker_id: worker.worker_id, user_name: 'alice', creates_worker: false },
  ]);
});

test('what can never be submitted stays with the reason, and holds up nothing', async () => {
  const taken = await submit();
  await relayAll();
  const before = await submit();
  const absent = await submit({ context_id: ids.next(), input: { content: 'go' } });
  const foreign = await submit(newWorker(), 'other');
  await submitText(JSON.stringify({ job_id: taken, message_id: ids.next(), ...newWorker() }));
  const broken = ids.next<JobId>();
  // Written without the function.
  await service.sql`insert into nightshift.outbox (job_id, context_id, tenant, submission)
    values (${broken}, ${ids.next()}, ${DEFAULT_TENANT_NAME}, 'no json')`;
  const after = await submit();
  const { refused } = await relayBatch(await portsOf());
  const reasons = { [absent]: 'not_found', [foreign]: 'tenant_not_allowed', [broken]: 'invalid_request' };
  expect(Object.fromEntries(refused.map(({ jobId, code }) => [jobId, code]))).toEqual({
    ...reasons,
    [taken]: 'job_id_taken',
  });
  expect(await submitted()).toEqual([taken, before, after]);
  const kept = (await service.rows()).map(({ job_id, code }) => [String(job_id), code]);
  expect(Object.fromEntries(kept)).toEqual({ ...reasons, [taken]: 'job_id_taken' });
  expect(await receipts()).toBe(0);
  // They are not looked at again, until the operator says so.
  expect(await relayBatch(await portsOf())).toEqual({ relayed: [], refused: [] });
  expect(await retryRefused(service.open())).toBe(4);
  await relayAll(await portsOf({ tenants: [DEFAULT_TENANT_NAME, 'other'] }));
  expect(await submitted()).toContain(foreign);
  expect(await service.rows()).toHaveLength(3);
});

test('a row that PostgreSQL refuses to store holds up none of its batch', async () => {
  const first = await submit();
  const jobId = ids.next<JobId>();
  // A text that JSON.parse reads, and the type json of PostgreSQL does not.
  const text = JSON.stringify({ job_id: jobId, message_id: ids.next(), ...newWorker({ user: 'NUL' }) });
  await service.sql`insert into nightshift.outbox (job_id, context_id, tenant, submission)
    values (${jobId}, ${ids.next()}, ${DEFAULT_TENANT_NAME}, ${text.replace('NUL', '\\u0000')})`;
  const last = await submit();
  const { refused } = await relayBatch(await portsOf());
  expect(refused).toEqual([{ jobId, tenant: DEFAULT_TENANT_NAME, code: 'invalid_request' }]);
  expect(await submitted()).toEqual([first, last]);
});

test('rows of a tenant that is suspended wait, and those of others do not', async () => {
  const tenants = [DEFAULT_TENANT_NAME, 'asleep'];
  await ensureTenant(the.database.db, 'asleep');
  await the.rows("update tenants set status = 'suspended' where name = 'asleep'");
  const waiting = await submit(newWorker(), 'asleep');
  const job = await submit();
  await relayAll(await portsOf({ tenants }));
  expect(await submitted()).toEqual([job]);
  // It is no sign of a relay that does not work.
  const { db } = service.open();
  expect(await readBacklog(db, ['asleep'])).toEqual({ waiting: 1, oldestMs: null, refused: 0 });
  expect((await readBacklog(db)).oldestMs).toBeGreaterThan(0);
  await the.rows("update tenants set status = 'active' where name = 'asleep'");
  await relayAll(await portsOf({ tenants }));
  expect(await submitted()).toEqual([job, waiting]);
});

test('a row that another statement has locked is not overtaken by the next one of its context', async () => {
  const [{ contextId }, other] = [await the.context(), await the.context()];
  const first = await submit({ context_id: contextId, input: { content: 'go' } });
  const second = await submit({ context_id: contextId, input: { content: 'go' } });
  const free = await submit({ context_id: other.contextId, input: { content: 'go' } });
  await service.open().transaction(async (tx) => {
    await tx.execute(sql`select 1 from outbox where job_id = ${first} for update`);
    await relayAll();
  });
  expect(await submitted()).toEqual([free]);
  await relayAll();
  expect(await submitted()).toEqual([free, first, second]);
});

test('a batch reads a bounded number of bytes', async () => {
  const content = 'x'.repeat(3 * 1024 * 1024);
  const jobs = [await submit(newWorker({ input: { content } })), await submit(newWorker({ input: { content } }))];
  const ports = await portsOf();
  expect((await relayBatch(ports)).relayed).toHaveLength(1);
  expect(await submitted()).toEqual([jobs[0]]);
  await relayAll(ports);
  expect(await submitted()).toEqual(jobs);
});

test('a job that is submitted again is one', async () => {
  const worker = newWorker();
  const body = { job_id: ids.next<JobId>(), message_id: ids.next(), ...worker };
  await submitText(JSON.stringify(body));
  await submitText(JSON.stringify(body));
  expect(await service.rows()).toHaveLength(1);
  await relayAll();
  await turnAll();
  await submitText(JSON.stringify(body));
  await relayAll();
  expect(await submitted()).toEqual([]);
  expect(await the.rows(`select 1 from jobs where id = '${body.job_id}'`)).toHaveLength(1);
  expect(await service.rows()).toEqual([]);
});
