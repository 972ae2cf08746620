// The order of a context holds, whatever keeps a submission from its turn; one that has no room waits for it.
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { cancelJob } from '../../../src/commands/jobs/cancel-job.ts';
import { perform } from '../../../src/commands/perform.ts';
import { DEFAULT_TENANT, type ContextId, type JobId } from '../../../src/core/ids.ts';
import { PEER_LIMITS } from '../../../src/core/workers/peer-limits.ts';
import { contextsWithSubmissions, firstSubmissions } from '../../../src/db/submissions/due-submissions.ts';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import { createWorkerMetrics } from '../../../src/workers/process/metrics/metrics.ts';
import { turnDueSubmissions } from '../../../src/workers/scheduling/submissions.ts';
import { given, type Given } from '../database-fixture.ts';
import { readParsed } from '../../workers/scheduling/read-parsed.ts';
import { QUEUED_JOB, WAITING, failed, newWorker, submissionsOf, type State } from './submissions-fixture.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());
beforeEach(() => the.rows('delete from submissions'));

const { stateOf, turnAll, submit, toContext, statusOf } = submissionsOf(() => the);

const statusesOf = (jobs: JobId[]) => Promise.all(jobs.map(async (id) => (await statusOf(id))[0]));
/** The column rounds to milliseconds: a time that is not truncated may be half of one ahead. */
const makeDue = () =>
  the.rows("update submissions set retry_at = date_trunc('milliseconds', now()) where retry_at is not null");
const cancel = (jobId: JobId) =>
  perform(the.ports(), cancelJob(the.ports(), { tenantId: DEFAULT_TENANT, jobId, reason: null, by: null }));
const jobsOf = async (contextId: ContextId) =>
  (await the.rows(`select id from jobs where context_id = '${contextId}' order by position`)).map(({ id }) => id);

test('a submission that another statement has locked is not overtaken by the next one', async () => {
  const { contextId } = await the.context();
  const both = [await toContext(contextId), await toContext(contextId)];
  await the.database.transaction(async (tx) => {
    await tx.execute(sql`select 1 from submissions where id = ${both[0]} for update`);
    await turnAll(stateOf(the.open({ max: 2 })));
  });
  expect(await statusesOf(both)).toEqual([WAITING, WAITING]);
  await turnAll();
  expect(await jobsOf(contextId)).toEqual(both);
});

test('a full queue holds up those of its context until there is room, and no others', async () => {
  const { contextId } = await the.context();
  const other = await the.context();
  const jobs = [await toContext(contextId), await toContext(contextId), await toContext(contextId)];
  const elsewhere = await toContext(other.contextId);
  const state = stateOf(the.database, { peers: { ...PEER_LIMITS, queuedInputs: 1 } });
  await turnAll(state);
  expect(await statusesOf(jobs)).toEqual([QUEUED_JOB, WAITING, WAITING]);
  expect(await statusOf(elsewhere)).toEqual([QUEUED_JOB]);
  // The last one is not postponed itself: it waits behind its predecessor.
  expect(await the.rows('select id from submissions where retry_at is not null')).toEqual([{ id: jobs[1] }]);
  expect(await contextsWithSubmissions(the.database.db, 10)).toEqual([]);
  for (const done of jobs.slice(0, 2)) {
    await cancel(done);
    await makeDue();
    await turnAll(state);
  }
  expect((await statusesOf(jobs))[2]).toEqual(QUEUED_JOB);
  expect(await jobsOf(contextId)).toEqual(jobs);
});

test('a limit on queued jobs postpones, and one on workers refuses', async () => {
  const tenantId = await ensureTenant(the.database.db, 'limited');
  const limit = (limits: object) =>
    the.rows(`update tenants set limits = '${JSON.stringify(limits)}' where id = ${tenantId}`);
  await limit({ queued_jobs: 1 });
  const jobs = [await submit(newWorker(), 'limited')];
  await turnAll();
  jobs.push(await submit(newWorker(), 'limited'));
  await turnAll();
  expect(await statusesOf(jobs)).toEqual([QUEUED_JOB, WAITING]);
  await limit({ workers: 1 });
  await makeDue();
  await turnAll();
  expect(await statusesOf(jobs)).toEqual([QUEUED_JOB, failed('quota_exceeded')]);
});

test('one large body is read alone, and small ones together', async () => {
  const { contextId } = await the.context();
  const large = 'x'.repeat(3 * 1024 * 1024);
  const jobs: JobId[] = [];
  for (const text of ['a', 'b', large, large, 'c']) jobs.push(await toContext(contextId, text));
  const [due] = await contextsWithSubmissions(the.database.db, 10);
  if (due === undefined) throw new Error('Nothing is due.');
  const read: JobId[][] = [];
  while ((await the.rows('select 1 from submissions')).length > 0) {
    read.push((await firstSubmissions(the.database.db, due, 20)).map(({ id }) => id));
    await turnDueSubmissions(stateOf());
  }
  expect(read).toEqual([jobs.slice(0, 2), [jobs[2]], [jobs[3]], [jobs[4]]]);
});

test('a refusal is logged and counted', async () => {
  const lines: unknown[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const metrics = createWorkerMetrics({ running: 0, capacity: 0 }, []);
  const { contextId } = await the.context();
  const id = await submit({ context_id: contextId, input: { content: '' } });
  await toContext(contextId);
  await turnAll(stateOf(the.database, { log, metrics }));
  const code = 'invalid_request';
  expect(lines).toEqual([{ level: 40, job_id: id, tenant: 'default', code, msg: 'a submission became no job' }]);
  expect(JSON.stringify(await metrics.read())).toContain(`{"value":1,"labels":{"code":"${code}"}}`);
});

test('large bodies are read one at a time', async () => {
  const content = 'x'.repeat(2 * 1024 * 1024);
  const jobs = await Promise.all([1, 2, 3].map(() => submit(newWorker({ input: { content } }))));
  let reading = 0;
  let most = 0;
  const readSubmission: State['readSubmission'] = async (tenant, body) => {
    reading += 1;
    most = Math.max(most, reading);
    // Long enough for others to be read meanwhile.
    for (let trips = 0; trips < 20; trips += 1) await the.rows('select 1');
    reading -= 1;
    return readParsed(tenant, body);
  };
  await turnAll(stateOf(the.open({ max: 8 }), { readSubmission }));
  expect(await statusesOf(jobs)).toEqual(jobs.map(() => QUEUED_JOB));
  expect(most).toBe(1);
});
