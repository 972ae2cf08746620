// Statements that many requests share: which of them do, and that each gets its own result.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_TENANT, type JobId, type TenantId } from '../../src/core/ids.ts';
import type { Database } from '../../src/db/connection/client.ts';
import { findJob } from '../../src/db/read/jobs/job-views.ts';
import { hasArrived } from '../../src/db/read/jobs/watched-jobs.ts';
import { submit, type Submission } from '../../src/db/write/inputs/submit.ts';
import { createWorker } from '../../src/db/write/workers/create.ts';
import { tagOf } from '../services/statements.ts';
import { given, ids, newWorker, type Context, type Given } from './database-fixture.ts';
import { submissionTo } from './inputs.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
  await the.rows(`insert into tenants (id, name) values (7, 'seven')`);
});
afterAll(() => the.close());

/** A pool whose statements with this tag are counted. */
function counting(tag: string): { database: Database; count: () => number } {
  let count = 0;
  const database = the.open({ max: 4, hook: (text) => void (tagOf(text) === tag && (count += 1)) });
  return { database, count: () => count };
}

test('workers created at the same time share a statement, and each is stored with its own input', async () => {
  const { database, count } = counting('workers.create');
  const tenants = [DEFAULT_TENANT, 7 as TenantId];
  const all = Array.from({ length: 20 }, (_, at) => {
    const worker = newWorker({
      name: `w${at} \uF8FE`,
      title: at % 3 === 0 ? `t${at}` : null,
      tenantId: tenants[at % 2] ?? DEFAULT_TENANT,
      config: { max_steps: 1 + at, system_prompt: `\uF8FE ${at} \0` },
    });
    const job = at % 4 === 0 ? null : submissionTo(worker.contextId, { priority: 1 + (at % 9) });
    return { worker, job };
  });
  const made = await Promise.all(all.map(({ worker, job }) => createWorker(database.db, worker, job)));
  expect(count()).toBe(2);
  for (const [at, { worker, job }] of all.entries()) {
    const { id, contextId, name, title, tenantId, config } = worker;
    expect(made[at]).toMatchObject({
      worker: { id, contextId, name, config, state: job === null ? 'inactive' : 'working' },
      context: { wakeSeq: job === null ? 0 : 1, runnable: job !== null },
    });
    const stored = await the.rows(`select w.name, w.title, w.tenant_id as worker, c.tenant_id as context, c.queued,
      b.name as branch, j.id as job, j.priority, m.id as message, m.job_id as "messageJob"
      from workers w join contexts c on c.id = w.context_id join branches b on b.context_id = c.id
      left join jobs j on j.context_id = c.id and j.worker_id = w.id left join messages m on m.context_id = c.id
      where w.id = '${id}'`);
    const ofJob = job === null ? null : job.jobId;
    expect(stored).toEqual([
      {
        name,
        title,
        worker: tenantId,
        context: tenantId,
        queued: job === null ? 0 : 1,
        branch: 'main',
        job: ofJob,
        priority: job?.priority ?? null,
        message: job?.input?.messageId ?? null,
        messageJob: ofJob,
      },
    ]);
  }
});

test('a worker that cannot be stored fails alone', async () => {
  const { database } = counting('workers.create');
  const worker = newWorker();
  await createWorker(database.db, worker);
  const [first, again, last] = await Promise.allSettled(
    [newWorker(), worker, newWorker()].map((one) => createWorker(database.db, one)),
  );
  expect([first?.status, again?.status, last?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('in a transaction each has its own statement, and so has a large one', async () => {
  const { database, count } = counting('workers.create');
  await database.transaction(async (tx) => {
    await Promise.all([newWorker(), newWorker(), newWorker()].map((one) => createWorker(tx, one)));
  });
  expect(count()).toBe(3);
  const large = { config: { system_prompt: 'x'.repeat(100_000) } };
  await Promise.all(
    [newWorker(large), newWorker(large), newWorker(large)].map((one) => createWorker(database.db, one)),
  );
  expect(count()).toBe(6);
});

test('inputs sent to different contexts at the same time share a statement, and each queues its own job', async () => {
  const { database, count } = counting('jobs.submit_many');
  const contexts = await Promise.all(Array.from({ length: 20 }, () => the.context()));
  const inputs = contexts.map(({ contextId }, at) =>
    submissionTo(contextId, { priority: 1 + (at % 9), metadata: { at }, maxSteps: at % 2 === 0 ? null : at }),
  );
  const changed = await Promise.all(inputs.map((input) => submit(database.db, input)));
  expect(count()).toBe(2);
  for (const [at, { contextId, jobId, input, priority, maxSteps }] of inputs.entries()) {
    expect(changed[at]).toMatchObject({ wakeSeq: 1, epoch: 0, runnable: true });
    const stored = await the.rows(`select c.queued, j.id, j.branch, j.priority, j.metadata, j.max_steps, j.message_id,
      m.job_id from contexts c join jobs j on j.context_id = c.id join messages m on m.id = j.message_id
      where c.id = '${contextId}'`);
    expect(stored).toEqual([
      {
        queued: 1,
        id: jobId,
        branch: 'main',
        priority,
        metadata: { at },
        max_steps: maxSteps,
        message_id: input?.messageId,
        job_id: jobId,
      },
    ]);
  }
});

test('inputs sent to one context at the same time get a place each', async () => {
  const { database } = counting('jobs.submit_many');
  const { contextId } = await the.context();
  const inputs = Array.from({ length: 5 }, () => submissionTo(contextId));
  const changed = await Promise.all(inputs.map((input) => submit(database.db, input)));
  const places = changed.map((row) => row?.wakeSeq);
  expect(new Set(places)).toEqual(new Set([1, 2, 3, 4, 5]));
  const queued = await the.rows(`select id, position from jobs where context_id = '${contextId}'`);
  const placeOf = new Map(queued.map(({ id, position }) => [id, position]));
  expect(inputs.map(({ jobId }) => placeOf.get(jobId))).toEqual(places);
});

test('an input that is refused, or whose context is archived or locked, holds no other one up', async () => {
  const { database, count } = counting('jobs.submit_many');
  const [free, full, stopped, foreign, archived, locked, last] = await Promise.all(
    Array.from({ length: 7 }, () => the.context()),
  );
  const to = (context: Context | undefined, over: Partial<Submission> = {}) =>
    submit(database.db, submissionTo(context?.contextId ?? ids.next(), over));
  await the.rows(`update contexts set stopped = true where id = '${stopped?.contextId}'`);
  await the.rows(
    `update workers set archived_at = now() where context_id in ('${archived?.contextId}', '${locked?.contextId}')`,
  );
  const sent = await the.database.transaction(async (tx) => {
    await tx.execute(`select 1 from contexts where id = '${locked?.contextId}' for no key update`);
    const others = [
      to(free),
      to(full, { queueLimit: 0 }),
      to(stopped),
      to(foreign, { tenantId: 7 as TenantId }),
      to(archived),
      to(last),
    ];
    let isAnswered = false;
    const waiting = to(locked).finally(() => (isAnswered = true));
    const answers = await Promise.all(others);
    expect(answers.map((row) => row?.wakeSeq ?? null)).toEqual([1, null, null, null, 1, 1]);
    expect(isAnswered).toBe(false);
    return { waiting };
  });
  expect(await sent.waiting).toMatchObject({ wakeSeq: 1, runnable: true });
  expect(
    await the.rows(`select 1 from workers where archived_at is not null
    and context_id in ('${archived?.contextId}', '${locked?.contextId}')`),
  ).toEqual([]);
  expect(count()).toBe(2);
});

test('an input that cannot be stored fails alone', async () => {
  const { database, count } = counting('jobs.submit_many');
  const contexts = await Promise.all(Array.from({ length: 3 }, () => the.context()));
  const inputs = contexts.map(({ contextId }) => submissionTo(contextId));
  const taken = inputs.map((input, at) => (at === 1 ? { ...input, jobId: inputs[0]?.jobId ?? input.jobId } : input));
  await submit(database.db, submissionTo((await the.context()).contextId));
  const [first, again, last] = await Promise.allSettled(taken.map((input) => submit(database.db, input)));
  expect([first?.status, again?.status, last?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  // One for the input before, and one that failed for all three; or one for the first of them, if its connection was
  // free at once, and one that failed for the other two.
  expect([2, 3]).toContain(count());
});

test('jobs read at the same time share a statement; another tenant sees none of them', async () => {
  const { database, count } = counting('jobs.find');
  const { contextId } = await the.context();
  const jobIds = await Promise.all([the.submit(contextId), the.submit(contextId), the.submit(contextId)]);
  const other = 7 as TenantId;
  const wanted: [TenantId, JobId][] = [
    ...[...jobIds, ...jobIds].map((id): [TenantId, JobId] => [DEFAULT_TENANT, id]),
    [DEFAULT_TENANT, ids.next<JobId>()],
    ...jobIds.map((id): [TenantId, JobId] => [other, id]),
  ];
  const found = await Promise.all(wanted.map(([tenantId, id]) => findJob(database.db, tenantId, id)));
  expect(count()).toBe(2);
  expect(found.map((job) => job?.id ?? null)).toEqual([...jobIds, ...jobIds, null, null, null, null]);
  expect(found[0]).toMatchObject({ contextId, status: 'queued', branch: 'main', awaited: [], output: null });
});

test('whether jobs ended is asked by one statement for all', async () => {
  const { database, count } = counting('jobs.read_arrived');
  const { contextId } = await the.context();
  const jobId = await the.submit(contextId);
  const asked = [jobId, ids.next<JobId>(), jobId].map((id) => ({
    tenantId: DEFAULT_TENANT,
    jobId: id,
    until: 'end' as const,
  }));
  const others = { tenantId: 7 as TenantId, jobId, until: 'waiting' as const };
  expect(await Promise.all([...asked, others].map((job) => hasArrived(database.db, job)))).toEqual([
    false,
    true,
    false,
    true,
  ]);
  expect(count()).toBe(2);
});
