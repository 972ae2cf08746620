// Jobs that a service enqueues in its own transaction: they exist exactly if it commits.
import { drizzle } from 'drizzle-orm/postgres-js';
import { Client } from 'pg';
import postgres from 'postgres';
import { v7 } from 'uuid';
import { beforeEach, expect, test } from 'vitest';
import { type EnqueueJob, type Nightshift, type SqlRunner } from '../../src/index.ts';
import { createTestDatabase } from '../services/database.ts';
import { afterTest, openNightshift } from './opened.ts';

let databaseUrl: string;
let nightshift: Nightshift;
let sql: postgres.Sql;
beforeEach(async () => {
  const database = await createTestDatabase();
  afterTest(() => database.drop());
  databaseUrl = database.url;
  sql = postgres(databaseUrl, { max: 4, onnotice: () => undefined });
  afterTest(() => sql.end());
  await sql`create table public.orders (id int primary key, job_id uuid)`;
  nightshift = await openNightshift({ databaseUrl });
});

const config = { model: 'simulated/default' };
const order = (input = 'say: shipped'): EnqueueJob => ({ tenant: 'acme', name: 'order', config, input });
const acme = () => nightshift.tenant('acme');
const rows = async (): Promise<unknown[]> => [...(await sql`select id from nightshift.submissions`)];

test('a commit leaves exactly one job, which is known from the commit on', async () => {
  const { job_id, worker_id, context_id, message_id } = await sql.begin(async (tx) => {
    const enqueued = await nightshift.enqueue(tx, order());
    await tx`insert into public.orders values (1, ${enqueued.job_id})`;
    await expect(acme().jobs.get(enqueued.job_id)).rejects.toMatchObject({ code: 'not_found' });
    return enqueued;
  });
  const ids = { id: job_id, context_id, input: { message_id, text: expect.any(String) } };
  expect(await acme().jobs.get(job_id)).toMatchObject({
    ...ids,
    worker_id,
    status: 'queued',
    branch: 'main',
    error: null,
  });
  await expect(nightshift.tenant('other').jobs.get(job_id)).rejects.toMatchObject({ code: 'not_found' });
  await nightshift.startWorker();
  expect(await acme().jobs.wait(job_id)).toMatchObject({ ...ids, status: 'completed', output: { text: 'shipped' } });
  expect(await acme().workers.get(worker_id ?? '')).toMatchObject({ name: 'order', context_id });
  expect(await rows()).toEqual([]);
  expect((await acme().jobs.list().all()).map(({ id }) => id)).toEqual([job_id]);
});

test('a rollback leaves nothing', async () => {
  const enqueued: string[] = [];
  const rolledBack = sql.begin(async (tx) => {
    enqueued.push((await nightshift.enqueue(tx, order())).job_id);
    throw new Error('no order');
  });
  await expect(rolledBack).rejects.toThrow('no order');
  await nightshift.startWorker();
  await nightshift.notify();
  await expect(acme().jobs.get(enqueued[0] ?? '')).rejects.toMatchObject({ code: 'not_found' });
  expect(await rows()).toEqual([]);
  expect(await acme().jobs.list().all()).toEqual([]);
});

const libraries: Record<string, (work: (tx: SqlRunner) => Promise<void>) => Promise<void>> = {
  'postgres.js': async (work) => {
    await sql.begin(work);
  },
  pg: async (work) => {
    const client = new Client(databaseUrl);
    await client.connect();
    afterTest(() => client.end());
    await client.query('begin');
    await work(client);
    await client.query('commit');
  },
  Drizzle: (work) => drizzle(sql).transaction((tx) => work(tx)),
  // As Prisma's `tx` has it.
  Prisma: async (work) => {
    await sql.begin((tx) =>
      work({ $queryRawUnsafe: (text: string, ...parameters: string[]) => tx.unsafe(text, parameters) }),
    );
  },
};

test.each(Object.entries(libraries))('a transaction of %s', async (_, transaction) => {
  const ids: string[] = [];
  const text = `it's "$1" and $2 \\ \u0000 \ud800 ✓`;
  await transaction(async (tx) => {
    ids.push((await nightshift.enqueue(tx, order(text))).job_id);
  });
  const [job_id = ''] = ids;
  expect(await acme().jobs.get(job_id)).toMatchObject({ status: 'queued' });
  await nightshift.startWorker();
  const { context_id, input } = await acme().jobs.wait(job_id);
  const message = (await acme().contexts.messages.list(context_id).all()).find(({ id }) => id === input?.message_id);
  expect(message?.content).toEqual([{ type: 'text', text }]);
});

test('an input for a context of the same transaction follows its first one', async () => {
  const jobs = await sql.begin(async (tx) => {
    const first = await nightshift.enqueue(tx, order('say: one'));
    const { context_id } = first;
    const metadata = { step: 2 };
    const second = await nightshift.enqueue(tx, {
      tenant: 'acme',
      context_id,
      input: { content: 'say: two', metadata },
    });
    return [first, second];
  });
  expect(jobs.map(({ worker_id }) => worker_id !== null)).toEqual([true, false]);
  await nightshift.startWorker();
  await nightshift.notify();
  const ended = await Promise.all(jobs.map(({ job_id }) => acme().jobs.wait(job_id)));
  expect(ended).toMatchObject([{ output: { text: 'one' } }, { output: { text: 'two' }, metadata: { step: 2 } }]);
  const messages = await acme()
    .contexts.messages.list(jobs[0]?.context_id ?? '')
    .all();
  expect(messages.map(({ turn }) => turn)).toEqual(['u1', 'a1', 'u2', 'a2']);
});

test('a job id of the service is one job, however often it is enqueued', async () => {
  const job_id = v7();
  const twice = () => nightshift.enqueue(sql, { ...order(), job_id });
  const [one, other] = await Promise.all([twice(), twice()]);
  expect(one).toEqual(other);
  expect(await rows()).toHaveLength(1);
  await nightshift.startWorker();
  expect(await acme().jobs.wait(job_id)).toMatchObject({ context_id: one.context_id, worker_id: one.worker_id });
  expect(await twice()).toEqual(one);
  expect(await rows()).toEqual([]);
  await expect(nightshift.enqueue(sql, { ...order(), tenant: 'other', job_id })).rejects.toMatchObject({
    name: 'NightshiftEnqueueError',
    code: 'job_id_taken',
  });
});

test('what can only be refused later is a failed job with a code', async () => {
  const { id, context_id } = await acme().workers.create({ name: 'w', config });
  const { job_id } = await nightshift.enqueue(sql, { tenant: 'acme', context_id, input: 'say: hello' });
  const branch = await nightshift.enqueue(sql, {
    tenant: 'acme',
    context_id,
    input: { content: 'say: hello', branch: 'absent' },
  });
  await acme().workers.delete(id);
  await nightshift.startWorker();
  const error = { code: 'not_found', message: `No context has the id ${context_id}.` };
  expect(await acme().jobs.wait(job_id)).toMatchObject({ status: 'failed', error, finished_at: expect.any(String) });
  expect(await acme().jobs.wait(branch.job_id)).toMatchObject({ status: 'failed', error: { code: 'not_found' } });
  const cancelled = await acme().jobs.cancel(job_id);
  expect(cancelled).toMatchObject({ status: 'failed', stopped_at: null });
});

test('a job can be cancelled before it is one', async () => {
  const { job_id } = await nightshift.enqueue(sql, order());
  expect(await acme().jobs.cancel(job_id)).toMatchObject({
    job_id,
    status: 'cancelled',
    stopped_at: expect.any(String),
  });
  await nightshift.startWorker();
  const other = await nightshift.enqueue(sql, order());
  await acme().jobs.wait(other.job_id);
  expect(await acme().jobs.get(job_id)).toMatchObject({ status: 'cancelled', steps: 0 });
});

test('a user sees the jobs of its own workers', async () => {
  const alice = { ...order(), user: 'alice' };
  const { job_id } = await nightshift.enqueue(sql, alice);
  const clientOf = (user: string) => nightshift.tenant('acme', { user });
  expect(await clientOf('alice').jobs.get(job_id)).toMatchObject({ id: job_id, user: 'alice', status: 'queued' });
  await expect(clientOf('bob').jobs.get(job_id)).rejects.toMatchObject({ code: 'not_found' });
});

test('after stop nothing is enqueued', async () => {
  await nightshift.stop();
  await expect(nightshift.enqueue(sql, order())).rejects.toMatchObject({ code: 'stopped' });
  await nightshift.notify();
  expect(await rows()).toEqual([]);
});
