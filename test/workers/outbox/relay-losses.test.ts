// The relay loses its outbox or its time, tenants are deleted, and the service changes its table.
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_TENANT_NAME, type JobId } from '../../../src/core/ids.ts';
import { SUBMISSION_BYTES } from '../../../src/core/submissions/submission.ts';
import { retryRefused } from '../../../src/db/outbox/install.ts';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import { openOutbox } from '../../../src/platform/services/outbox-database.ts';
import { relayBatch } from '../../../src/workers/outbox/relay-batch.ts';
import { ids } from '../../db/database-fixture.ts';
import { newWorker } from '../../db/submissions/submissions-fixture.ts';
import {
  endRelay,
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

test('two processes that both believe to have the outbox add a row once', async () => {
  const jobId = await submit();
  // The session of the first ends while it commits: its lock and its rows are free, and its submissions are not yet there.
  const others: Promise<void>[] = [];
  const first = await portsOf({}, (text) => {
    if (!text.includes('submissions.relay') || others.length > 0) return;
    others.push(endRelay().then(() => relayAll()));
  });
  await relayBatch(first).catch(() => undefined);
  await Promise.all(others);
  await relayAll();
  expect(await submitted()).toEqual([jobId]);
  expect(await service.rows()).toEqual([]);
});

test('a process that has lost its outbox adds nothing of a row that another one has relayed', async () => {
  const jobId = await submit();
  let others: Promise<void> | null = null;
  const first = await portsOf({}, async (text) => {
    if (!text.includes('outbox.add_receipts') || others !== null) return;
    others = (async () => {
      await endRelay();
      await relayAll();
      await turnAll();
      await the.rows(`delete from jobs where id = '${jobId}'`);
    })();
    await others;
  });
  await expect(relayBatch(first)).rejects.toThrow();
  expect(others).not.toBeNull();
  expect(await receipts()).toBe(0);
  expect(await submitted()).toEqual([]);
  expect(await service.rows()).toEqual([]);
});

test('a batch may take longer than a transaction of a frozen process may be idle', async () => {
  const jobId = await submit();
  const slow = await portsOf({}, async (text) => {
    if (text.includes('submissions.relay')) await setTimeout(1_500);
  });
  const outbox = openOutbox(slow.settings, { leaseMs: 30_000 }, 'test');
  onTestFinished(() => outbox.close());
  expect((await relayBatch({ ...slow, outbox })).relayed).toHaveLength(1);
  expect(await submitted()).toEqual([jobId]);
  expect(await service.rows()).toEqual([]);
});

test('rows that waited for a tenant do not create it again after its deletion', async () => {
  const tenants = [DEFAULT_TENANT_NAME, 'gone'];
  const id = await ensureTenant(the.database.db, 'gone');
  const waiting = await submit(newWorker(), 'gone');
  const job = await submit();
  await the.rows(`delete from tenants where id = ${id}`);
  await the.rows(`insert into audit_entries (id, actor_kind, action, target, detail)
    values ('${ids.next()}', 'system', 'tenant.deleted', 'gone', '{}')`);
  const { refused } = await relayBatch(await portsOf({ tenants }));
  expect(refused).toEqual([{ jobId: waiting, tenant: 'gone', code: 'tenant_not_allowed' }]);
  expect(await the.rows("select 1 from tenants where name = 'gone'")).toEqual([]);
  const [kept] = await service.sql`select error ->> 'message' as message from nightshift.outbox`;
  expect(kept?.['message']).toBe('The tenant "gone" was deleted. Create it, then run `nightshift outbox retry`.');
  await ensureTenant(the.database.db, 'gone');
  await retryRefused(service.open());
  await relayAll(await portsOf({ tenants }));
  expect(await submitted()).toEqual([job, waiting]);
});

test('a row that was refused waits again once its job is submitted again', async () => {
  const text = JSON.stringify({ job_id: ids.next(), message_id: ids.next(), ...newWorker() });
  await submitText(text, 'later');
  const { refused } = await relayBatch(await portsOf());
  expect(refused).toMatchObject([{ tenant: 'later', code: 'tenant_not_allowed' }]);
  const allowing = await portsOf({ tenants: ['later'] });
  expect(await relayBatch(allowing)).toEqual({ relayed: [], refused: [] });
  await submitText(text, 'later');
  expect((await relayBatch(allowing)).relayed).toHaveLength(1);
  expect(await submitted()).toHaveLength(1);
});

test('the size of a submission is checked even if the service has changed its table', async () => {
  const body = newWorker({ input: { content: 'x'.repeat(SUBMISSION_BYTES) } });
  const jobId = ids.next<JobId>();
  const text = JSON.stringify({ job_id: jobId, message_id: ids.next(), ...body });
  await service.sql`alter table nightshift.outbox drop constraint outbox_submission_check`;
  await service.sql`insert into nightshift.outbox (job_id, context_id, tenant, submission)
    values (${jobId}, ${ids.next()}, ${DEFAULT_TENANT_NAME}, ${text})`;
  const long = await submit();
  await service.sql`update nightshift.outbox set tenant = ${'t'.repeat(1_000_000)} where job_id = ${long}`;
  const ports = await portsOf();
  const refused = [...(await relayBatch(ports)).refused, ...(await relayBatch(ports)).refused];
  expect(refused).toEqual([
    { jobId, tenant: DEFAULT_TENANT_NAME, code: 'invalid_request' },
    { jobId: long, tenant: 't'.repeat(65), code: 'tenant_not_allowed' },
  ]);
  expect(await submitted()).toEqual([]);
  await service.sql`delete from nightshift.outbox`;
  await service.sql`alter table nightshift.outbox add constraint outbox_submission_check
    check (octet_length(submission) <= ${service.sql.unsafe(String(SUBMISSION_BYTES))})`;
});
