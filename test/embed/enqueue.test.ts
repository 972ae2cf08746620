// Jobs that a service enqueues in its own transaction: they exist exactly if it commits.
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { drizzle } from 'drizzle-orm/postgres-js';
import { Client, Pool } from 'pg';
import postgres from 'postgres';
import { v7 } from 'uuid';
import { beforeEach, expect, test } from 'vitest';
import { type EnqueueJob, type Enqueued, type Nightshift, type SqlRunner } from '../../src/index.ts';
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

/** In a transaction of its own. */
const enqueue = (job: EnqueueJob): Promise<Enqueued> => sql.begin((tx) => nightshift.enqueue(tx, job));

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

test('its job belongs to the span that was active', async () => {
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  afterTest(async () => [trace, context].forEach((api) => api.disable()));
  const traced = await openNightshift({ databaseUrl });
  const span = trace.getTracer('shop').startSpan('order');
  const { job_id } = await context.with(trace.setSpan(context.active(), span), () =>
    sql.begin((tx) => traced.enqueue(tx, order())),
  );
  await traced.startWorker();
  expect(await acme().jobs.wait(job_id)).toMatchObject({ status: 'completed' });
  const { traceId, spanId } = span.spanContext();
  expect([...(await sql`select trace_parent from nightshift.jobs where id = ${job_id}`)]).toEqual([
    { trace_parent: `00-${traceId}-${spanId}-01` },
  ]);
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
  const twice = () => enqueue({ ...order(), job_id });
  const [first, other] = await Promise.all([twice(), twice()]);
  expect(first).toEqual(other);
  expect(await rows()).toHaveLength(1);
  await nightshift.startWorker();
  expect(await acme().jobs.wait(job_id)).toMatchObject({ context_id: first.context_id, worker_id: first.worker_id });
  expect(await twice()).toEqual(first);
  expect(await rows()).toEqual([]);
  await expect(enqueue({ ...order(), tenant: 'other', job_id })).rejects.toMatchObject({
    name: 'NightshiftEnqueueError',
    code: 'job_id_taken',
  });
});

test.each(['that waits', 'that is one'])(
  'the id of a job %s is not that of a job in another context',
  async (state) => {
    const first = await enqueue(order());
    if (state === 'that is one') {
      await nightshift.startWorker();
      await acme().jobs.wait(first.job_id);
    }
    const { context_id } = await acme().workers.create({ name: 'other', config });
    const { job_id } = first;
    await expect(enqueue({ tenant: 'acme', job_id, context_id, input: 'say: hello' })).rejects.toMatchObject({
      code: 'job_id_taken',
      message: `The job id ${job_id} is already used for another job.`,
    });
    expect(await enqueue({ ...order(), job_id })).toEqual(first);
  },
);

test('a pool is no transaction', async () => {
  const pool = new Pool({ connectionString: databaseUrl });
  afterTest(() => pool.end());
  // As the client of Prisma has it.
  const prisma = { $connect: async () => undefined, $queryRawUnsafe: async () => [] };
  for (const handle of [sql, pool, drizzle(sql), prisma]) {
    await expect(nightshift.enqueue(handle, order())).rejects.toMatchObject({
      code: 'invalid_transaction',
      message: expect.stringContaining('needs a transaction, not the pool'),
    });
  }
  expect(await rows()).toEqual([]);
  // As an entity manager of TypeORM within a transaction has it.
  await sql.begin((tx) => {
    const manager = { transaction: () => undefined, query: queryOf(tx) };
    return nightshift.enqueue(manager, order());
  });
  expect(await rows()).toHaveLength(1);
});

const queryOf = (tx: postgres.ISql) => (text: string, parameters: string[]) => tx.unsafe(text, parameters);

test('a client outside of a transaction is refused, and nothing is written', async () => {
  const pool = new Pool({ connectionString: databaseUrl, max: 1 });
  afterTest(() => pool.end());
  const client = await pool.connect();
  const reserved = await sql.reserve();
  const refused = {
    code: 'invalid_transaction',
    message: expect.stringContaining('is outside of one: the job would exist even if what follows is rolled back'),
  };
  const handles = [client, reserved, { query: queryOf(sql) }];
  for (const handle of handles) await expect(nightshift.enqueue(handle, order())).rejects.toMatchObject(refused);
  await client.query('begin');
  await nightshift.enqueue(client, order());
  await client.query('commit');
  await expect(nightshift.enqueue(client, order())).rejects.toMatchObject(refused);
  client.release();
  reserved.release();
  expect(await rows()).toHaveLength(1);
});

test('jobs may be enqueued at once in one transaction', async () => {
  await sql.begin((tx) => Promise.all([nightshift.enqueue(tx, order()), nightshift.enqueue(tx, order())]));
  expect(await rows()).toHaveLength(2);
});

test('a transaction whose snapshot has no such tenant yet is told so', async () => {
  await sql.begin('isolation level repeatable read', async (tx) => {
    await tx`select 1 from nightshift.tenants`;
    const enqueued = tx.savepoint((inner) => nightshift.enqueue(inner, { ...order(), tenant: 'recent' }));
    await expect(enqueued).rejects.toMatchObject({
      code: 'not_found',
      message:
        'The transaction sees no tenant "recent". It was added after the snapshot of the transaction was taken, or deleted. Run the transaction again.',
    });
  });
  await sql.begin((tx) => nightshift.enqueue(tx, { ...order(), tenant: 'recent' }));
  expect(await rows()).toHaveLength(1);
});

test('what can only be refused later is a failed job with a code', async () => {
  const { id, context_id } = await acme().workers.create({ name: 'w', config });
  const { job_id } = await enqueue({ tenant: 'acme', context_id, input: 'say: hello' });
  const branch = await enqueue({
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

test('what a service wrote without the checks is checked before it becomes a job', async () => {
  const [context_id, worker_id] = [v7(), v7()];
  const submit = async (over: object): Promise<string> => {
    const job_id = v7();
    const ids = { job_id, message_id: v7(), context_id: v7(), worker_id: v7() };
    const body = { ...ids, name: 'w', config, input: { content: 'say: hello' }, ...over };
    await sql`select nightshift.nightshift_submit_v1('acme', ${JSON.stringify(body)})`;
    return job_id;
  };
  await acme().jobs.list().all();
  const model = await submit({ config: { model: 'unknown/model' } });
  const parameters = await submit({ config: { model: 'anthropic/any', parameters: { absent: 1 } } });
  const good = await submit({ context_id, worker_id });
  await nightshift.startWorker();
  expect(await acme().jobs.wait(good)).toMatchObject({ status: 'completed', context_id, worker_id });
  expect(await acme().jobs.wait(model)).toMatchObject({ status: 'failed', error: { code: 'unknown_model' } });
  expect(await acme().jobs.wait(parameters)).toMatchObject({ status: 'failed', error: { code: 'invalid_request' } });
});

test('a job can be cancelled before it is one', async () => {
  const { job_id } = await enqueue(order());
  expect(await acme().jobs.cancel(job_id)).toMatchObject({
    job_id,
    status: 'cancelled',
    stopped_at: expect.any(String),
  });
  await nightshift.startWorker();
  const other = await enqueue(order());
  await acme().jobs.wait(other.job_id);
  expect(await acme().jobs.get(job_id)).toMatchObject({ status: 'cancelled', steps: 0 });
});

test('a user sees the jobs of its own workers', async () => {
  const alice = { ...order(), user: 'alice' };
  const { job_id } = await enqueue(alice);
  const clientOf = (user: string) => nightshift.tenant('acme', { user });
  expect(await clientOf('alice').jobs.get(job_id)).toMatchObject({ id: job_id, user: 'alice', status: 'queued' });
  await expect(clientOf('bob').jobs.get(job_id)).rejects.toMatchObject({ code: 'not_found' });
});

test('after stop nothing is enqueued', async () => {
  await nightshift.stop();
  await expect(enqueue(order())).rejects.toMatchObject({ code: 'stopped' });
  await nightshift.notify();
  expect(await rows()).toEqual([]);
});
