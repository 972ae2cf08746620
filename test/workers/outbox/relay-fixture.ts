// An installation and an outbox of a service, and what relays its rows.
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { DEFAULT_TENANT_NAME, type JobId } from '../../../src/core/ids.ts';
import type { NamedOutbox } from '../../../src/core/submissions/outbox.ts';
import type { StatementHook } from '../../../src/db/connection/client.ts';
import { readAbout } from '../../../src/db/outbox/outbox-rows.ts';
import { relayBatch, type RelayPorts } from '../../../src/workers/outbox/relay-batch.ts';
import { given, ids, type Given } from '../../db/database-fixture.ts';
import { newWorker, submissionsOf } from '../../db/submissions/submissions-fixture.ts';
import { OUTBOX_SCHEMA, createServiceDatabase, type ServiceDatabase } from '../../services/outbox.ts';

export let the: Given;
export let service: ServiceDatabase;

/** For all tests of the file that calls it: a module may be loaded once for several files. */
export function outboxOfFile(): void {
  beforeAll(async () => {
    [the, service] = await Promise.all([given(), createServiceDatabase()]);
    await service.install();
  });
  afterAll(() => Promise.all([the.close(), service.close()]));
  beforeEach(async () => {
    await service.sql`delete from nightshift.outbox`;
    await the.rows('delete from submissions');
    await the.rows('delete from outbox_receipts');
    await the.rows("delete from tenants where name <> 'default'");
  });
}

export const { turnAll } = submissionsOf(() => the);

const settings = (over: Partial<NamedOutbox> = {}): NamedOutbox => ({
  name: 'shop',
  url: service.url,
  schema: OUTBOX_SCHEMA,
  tenants: [DEFAULT_TENANT_NAME],
  ...over,
});

/** `hook`: before each statement and commit, in both databases. */
export async function portsOf(over: Partial<NamedOutbox> = {}, hook?: StatementHook): Promise<RelayPorts> {
  const about = await readAbout(service.open().db);
  if (about === null) throw new Error('The outbox is not installed.');
  const hooked = hook === undefined ? {} : { hook };
  return {
    database: the.open({ max: 1, ...hooked }),
    outbox: service.open(hooked),
    settings: settings(over),
    id: about.id,
  };
}

export async function relayAll(ports?: RelayPorts): Promise<void> {
  const own = ports ?? (await portsOf());
  for (
    let batch = await relayBatch(own);
    batch.relayed.length + batch.refused.length > 0;
    batch = await relayBatch(own)
  );
}

export async function submit(body: object = newWorker(), tenant = DEFAULT_TENANT_NAME): Promise<JobId> {
  const jobId = ids.next<JobId>();
  await submitText(JSON.stringify({ job_id: jobId, message_id: ids.next(), ...body }), tenant);
  return jobId;
}

export const submitText = (text: string, tenant = DEFAULT_TENANT_NAME) =>
  service.sql`select nightshift.nightshift_submit_v1(${tenant}, ${text})`;

/** Ends the session that has rows of the outbox. */
export const endRelay = () => service.sql`select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and query ~ 'outbox.(take|still_locked)' and pid <> pg_backend_pid()`;

export const submitted = async (): Promise<unknown[]> =>
  (await the.rows('select id from submissions order by position')).map(({ id }) => id);
export const receipts = async (): Promise<number> => (await the.rows('select 1 from outbox_receipts')).length;
