// A service whose database is another one: `enqueue` in its transactions works unchanged, by an outbox.
import { randomUUID } from 'node:crypto';
import { drizzle } from 'drizzle-orm/postgres-js';
import { Client } from 'pg';
import { v7 } from 'uuid';
import { beforeEach, expect, test } from 'vitest';
import { type EnqueueJob, type Nightshift } from '../../src/index.ts';
import { installOutbox, withOutbox } from '../../src/db/outbox/install.ts';
import { until } from '../e2e/rig/until.ts';
import { createTestDatabase } from '../services/database.ts';
import { OUTBOX_SCHEMA, createServiceDatabase, type ServiceDatabase } from '../services/outbox.ts';
import { afterTest, openNightshift } from './opened.ts';

let service: ServiceDatabase;
let nightshift: Nightshift;
let databaseUrl: string;
beforeEach(async () => {
  const [database, made] = await Promise.all([createTestDatabase(), createServiceDatabase()]);
  service = made;
  databaseUrl = database.url;
  afterTest(() => database.drop());
  afterTest(() => service.close());
  await service.install();
  await service.sql`create table public.orders (id int primary key, job_id uuid)`;
  const outboxes = { shop: { url: service.url, tenants: ['acme'] } };
  nightshift = await openNightshift({ databaseUrl, config: { outboxes } });
});

const acme = () => nightshift.tenant('acme');
const config = { model: 'simulated/default' };
const order = (over: object = {}): EnqueueJob => ({
  tenant: 'acme',
  name: 'order',
  config,
  input: 'say: shipped',
  ...over,
});

test('a commit leaves exactly one job, and a rollback none', async () => {
  const rolledBack = service.sql.begin(async (tx) => {
    await nightshift.enqueue(tx, order());
    throw new Error('no order');
  });
  await expect(rolledBack).rejects.toThrow('no order');
  expect(await service.rows()).toEqual([]);
  const enqueued = await service.sql.begin(async (tx) => {
    const made = await nightshift.enqueue(tx, order());
    await tx`insert into public.orders values (1, ${made.job_id})`;
    return made;
  });
  // No process has relayed it.
  await expect(acme().jobs.get(enqueued.job_id)).rejects.toMatchObject({ code: 'not_found' });
  await nightshift.startWorker();
  await nightshift.notify();
  await until('the job', () =>
    acme()
      .jobs.get(enqueued.job_id)
      .then(
        () => true,
        () => false,
      ),
  );
  expect(await acme().jobs.wait(enqueued.job_id)).toMatchObject({
    id: enqueued.job_id,
    context_id: enqueued.context_id,
    worker_id: enqueued.worker_id,
    status: 'completed',
    output: { text: 'shipped' },
  });
  expect((await acme().jobs.list().all()).map(({ id }) => id)).toEqual([enqueued.job_id]);
  expect(await service.rows()).toEqual([]);
});

test('transactions of pg and Drizzle', async () => {
  const client = new Client(service.url);
  await client.connect();
  afterTest(() => client.end());
  await expect(nightshift.enqueue(client, order())).rejects.toMatchObject({ code: 'invalid_transaction' });
  await client.query('begin');
  const first = await nightshift.enqueue(client, order());
  await client.query('commit');
  const second = await drizzle(service.sql).transaction((tx) => nightshift.enqueue(tx, order()));
  expect((await service.rows()).map(({ job_id }) => job_id)).toEqual([first.job_id, second.job_id]);
});

test('an input for a context, and a job id of the service', async () => {
  const job_id = v7();
  const enqueue = (job: EnqueueJob) => service.sql.begin((tx) => nightshift.enqueue(tx, job));
  const first = await enqueue(order({ job_id }));
  expect(await enqueue(order({ job_id }))).toEqual(first);
  await expect(enqueue({ tenant: 'acme', job_id, context_id: v7(), input: 'say: x' })).rejects.toMatchObject({
    code: 'job_id_taken',
  });
  const second = await enqueue({ tenant: 'acme', context_id: first.context_id, input: 'say: two' });
  await nightshift.startWorker();
  await until('both', async () => (await service.rows()).length === 0);
  const jobs = await Promise.all([first, second].map((one) => acme().jobs.wait(one.job_id)));
  expect(jobs.map(({ output }) => output?.text)).toEqual(['shipped', 'two']);
});

test('a tenant that the operator has not named gets no job, and others do', async () => {
  const enqueue = (job: EnqueueJob) => service.sql.begin((tx) => nightshift.enqueue(tx, job));
  const foreign = await enqueue(order({ tenant: 'globex' }));
  const { job_id } = await enqueue(order());
  await nightshift.startWorker();
  await until('the relay', async () => (await service.rows()).length === 1);
  expect(await acme().jobs.wait(job_id)).toMatchObject({ status: 'completed' });
  expect(await service.rows()).toEqual([{ job_id: foreign.job_id, tenant: 'globex', code: 'tenant_not_allowed' }]);
});

test('a role that may submit can do nothing else, and one without the grant is told what to run', async () => {
  const role = `web_${randomUUID().slice(0, 8)}`;
  await service.sql.unsafe(`create role ${role}`);
  const enqueue = () =>
    service.sql.begin(async (tx) => {
      await tx.unsafe(`set local role ${role}`);
      return nightshift.enqueue(tx, order());
    });
  await expect(enqueue()).rejects.toMatchObject({
    code: 'not_granted',
    message: expect.stringContaining('nightshift outbox install --database-url <url> --grant <role>'),
  });
  const place = { schema: OUTBOX_SCHEMA, submitters: [role], relays: [] };
  expect(await withOutbox(service.url, OUTBOX_SCHEMA, (outbox) => installOutbox(outbox, place))).toBe('unchanged');
  await enqueue();
  expect(await service.rows()).toHaveLength(1);
  const read = service.sql.begin(async (tx) => {
    await tx.unsafe(`set local role ${role}`);
    await tx`select 1 from nightshift.outbox`;
  });
  await expect(read).rejects.toMatchObject({ code: '42501' });
  await service.sql.unsafe(`drop owned by ${role}; drop role ${role}`);
});

test('a role that may relay needs no other right', async () => {
  const role = `relay_${randomUUID().slice(0, 8)}`;
  await service.sql.unsafe(`create role ${role} login password 'of-tests'`);
  const place = { schema: OUTBOX_SCHEMA, submitters: [], relays: [role] };
  await withOutbox(service.url, OUTBOX_SCHEMA, (outbox) => installOutbox(outbox, place));
  const url = Object.assign(new URL(service.url), { username: role, password: 'of-tests' }).href;
  const outboxes = { shop: { url, tenants: ['acme'] } };
  const relaying = await openNightshift({ databaseUrl, config: { outboxes } });
  const { job_id } = await service.sql.begin((tx) => nightshift.enqueue(tx, order()));
  const foreign = await service.sql.begin((tx) => nightshift.enqueue(tx, order({ tenant: 'globex' })));
  await relaying.startWorker();
  await until('the relay', async () => (await service.rows()).length === 1);
  expect(await service.rows()).toMatchObject([{ job_id: foreign.job_id }]);
  expect(await acme().jobs.wait(job_id)).toMatchObject({ status: 'completed' });
  await relaying.stop();
  await service.sql.unsafe(`drop owned by ${role}; drop role ${role}`);
});

test('the URL of an outbox is in no error', async () => {
  const url = 'mysql://shop:hidden@127.0.0.1/shop';
  const opening = openNightshift({ databaseUrl, config: { outboxes: { shop: { url, tenants: ['acme'] } } } });
  const error = await opening.catch((refused: unknown) => refused);
  expect(error).toMatchObject({
    code: 'invalid_options',
    faults: ['config: outboxes.shop.url: must be the URL of a PostgreSQL database, such as postgres://host/database.'],
  });
  expect(String(error)).not.toContain('hidden');
  const missing = openNightshift({ databaseUrl, config: { outboxes: { shop: { url: undefined, tenants: [] } } } });
  await expect(missing).rejects.toMatchObject({
    code: 'invalid_options',
    faults: ['config: outboxes.shop.url: is missing.', expect.stringMatching(/^config: outboxes\.shop\.tenants: /)],
  });
});
