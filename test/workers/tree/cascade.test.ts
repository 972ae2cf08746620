// Cancel, interrupt and stop cascade down the tree: a job ends with the job that asked for it.
import { afterEach, describe, expect, test } from 'vitest';
import { startBelow, stopBelow } from '../../../src/commands/jobs/cascade.ts';
import { startWorker, stopWorker } from '../../../src/commands/workers/stop-worker.ts';
import { DEFAULT_TENANT, type JobId } from '../../../src/core/ids.ts';
import type { ModelRequest } from '../../../src/core/model/model.ts';
import type { Executor } from '../../../src/db/connection/client.ts';
import { aborted, says, type FleetOptions } from '../worker-fleet.ts';
import { lastInput, startCrew, type Crew } from './peers-fleet.ts';

let crew: Crew | null = null;
const start = async (options: Partial<FleetOptions> = {}): Promise<Crew> =>
  (crew = await startCrew({ model: tree, ...options }));
afterEach(async () => {
  await crew?.close();
  crew = null;
});

const tenantId = DEFAULT_TENANT;

/** The connections that wait for a lock. */
const BLOCKED = `select 1 from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;

/** `a:b,c/d`: hires for each of the words behind the colon, then never ends. `done`: ends at once. */
async function tree(request: ModelRequest, signal: AbortSignal) {
  const input = lastInput(request);
  if (input.startsWith('done') || input.startsWith('Report')) return says('done');
  const [, below] = /^[^:]*:(.*)$/.exec(input) ?? [];
  const hasHired = request.messages.some(({ role }) => role === 'assistant');
  if (below !== undefined && !hasHired) {
    const [names = '', rest] = below.split('/');
    return says(
      '',
      ...names.split(',').map((name) => ({
        name: 'hire',
        input: { input: rest === undefined ? name : `${name}:${rest}`, detached: name === 'detached' },
      })),
    );
  }
  if (input.startsWith('leave')) return says('skipped');
  await aborted(signal);
  return { kind: 'aborted' as const };
}

const running = (of: Crew, many: number) =>
  of.until(async () => (await of.query(`select 1 from jobs where status in ('running', 'waiting')`)).length === many);

const noMarks = (of: Crew) =>
  of.until(async () => (await of.query(`select 1 from jobs where cascade is not null`)).length === 0);

async function statusOf(of: Crew): Promise<Record<string, unknown>> {
  const rows = await of.query(
    `select w.name, j.status from jobs j join workers w on w.id = j.worker_id where j.notice_of_job_id is null`,
  );
  return Object.fromEntries(rows.map((row) => [String(row['name']), row['status']]));
}

describe.each(['redis', 'deaf'] as const)('with a queue that is %s', (queue) => {
  test('the cancel of a job ends every job that was asked for below it, except detached ones', async () => {
    const of = await start({ queue });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'top:one,detached/leaf');
    await running(of, 5);
    await of.cancel(jobId);
    await of.ended(jobId);
    await running(of, 2);
    await noMarks(of);
    const jobs = await statusOf(of);
    expect(jobs).toMatchObject({ test: 'cancelled', 'one:leaf': 'cancelled', 'detached:leaf': 'running' });
    expect(await of.query(`select 1 from jobs where stop_reason like 'the job that asked%'`)).toHaveLength(2);
  });
});

test('an interrupt cancels the jobs below, whose conversations stay; their parent notices wake no context', async () => {
  const of = await start();
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'top:leaf');
  await running(of, 2);
  await of.interrupt(contextId, 'discard');
  expect(await of.ended(jobId)).toMatchObject({ status: 'interrupted' });
  const [child] = of.hired;
  expect(await of.ended(child?.jobId ?? jobId)).toMatchObject({ status: 'cancelled' });
  await of.until(async () => (await of.query(`select 1 from jobs where parent_notice is not null`)).length === 0);
  expect(await of.query(`select 1 from jobs where notice_of_job_id is not null`)).toEqual([]);
  expect(child === undefined ? [] : await of.history(child.contextId)).toHaveLength(1);
});

test('a job that was cancelled before it began is withdrawn with the job that asked for it', async () => {
  const of = await start({ concurrency: 1 });
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'top:one,two');
  await of.until(() => of.hired.length === 2);
  await of.cancel(jobId);
  for (const child of of.hired) expect(await of.ended(child.jobId)).toMatchObject({ status: 'cancelled' });
});

test('the end of a job that ends by itself cancels no other job', async () => {
  const of = await start();
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'leave:one');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  await running(of, 1);
  expect(await of.job(of.hired[0]?.jobId ?? jobId)).toMatchObject({
    status: 'running',
    parent_notice: 'wanted',
  });
});

describe('stop', () => {
  const stopped = async (of: Crew) =>
    (
      await of.query(
        `select w.name from workers w join contexts c on c.id = w.context_id where c.stopped order by w.depth`,
      )
    ).map((row) => row['name']);

  test('reaches all workers below, whichever worker asked for their jobs; start resumes them', async () => {
    const of = await start();
    const { contextId, workerId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'leave:one/two');
    await of.ended(jobId);
    await running(of, 2);
    await of.perform(stopWorker(of.ports, { tenantId, contextId }, { by: null }));
    await of.until(async () => (await stopped(of)).length === 3);
    await running(of, 0);
    await noMarks(of);
    expect(await statusOf(of)).toMatchObject({ 'one:two': 'cancelled', two: 'cancelled' });
    await of.perform(startWorker(of.ports, { tenantId, contextId }));
    await startBelow(of.ports, tenantId, workerId);
    expect(await stopped(of)).toEqual([]);
  });

  test('reaches workers below one that never ran', async () => {
    const of = await start();
    const { contextId, workerId } = await of.createContext();
    const child = await of.createContext();
    await of.query(`update workers set parent_worker_id = '${workerId}', depth = 1 where id = '${child.workerId}'`);
    await of.perform(stopWorker(of.ports, { tenantId, contextId }, { by: null }));
    await stopBelow(of.ports, tenantId, workerId, null);
    expect(await stopped(of)).toHaveLength(2);
  });

  test('that is late finds workers that a start has already resumed', async () => {
    const of = await start({ processes: 0 });
    const { contextId, workerId } = await of.createContext();
    const child = await of.createContext();
    await of.query(`update workers set parent_worker_id = '${workerId}', depth = 1 where id = '${child.workerId}'`);
    await of.perform(stopWorker(of.ports, { tenantId, contextId }, { by: null }));
    await of.perform(startWorker(of.ports, { tenantId, contextId }));
    await stopBelow(of.ports, tenantId, workerId, null);
    expect(await stopped(of)).toEqual([]);
  });

  test('that is in progress while the worker above is started is undone by that start', async () => {
    const of = await start({ processes: 0 });
    const { contextId, workerId } = await of.createContext();
    const child = await of.createContext();
    await of.query(`update workers set parent_worker_id = '${workerId}', depth = 1 where id = '${child.workerId}'`);
    await of.perform(stopWorker(of.ports, { tenantId, contextId }, { by: null }));
    const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: typeof of.ports = {
      ...of.ports,
      database: {
        ...of.ports.database,
        transaction: async <T>(work: (tx: Executor, last: Executor) => Promise<T>) =>
          of.ports.database.transaction(async (tx) => {
            const outcome = await work(tx, tx);
            asked.resolve();
            await goOn.promise;
            return outcome;
          }),
      },
    };
    const stopping = stopBelow(slow, tenantId, workerId, null);
    await asked.promise;
    const starting = (async () => {
      await of.perform(startWorker(of.ports, { tenantId, contextId }));
      await startBelow(of.ports, tenantId, workerId);
    })();
    await Promise.race([starting, of.until(async () => (await of.query(BLOCKED)).length > 0)]);
    goOn.resolve();
    await Promise.all([stopping, starting]);
    expect(await stopped(of)).toEqual([]);
  });
});

describe('parent notices', () => {
  test('the end of a job that no call waits for is reported to the worker that asked for it, once', async () => {
    const of = await start({ processes: 2 });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'leave:done one,done two');
    await of.ended(jobId);
    const reports = () => of.query(`select * from jobs where notice_of_job_id is not null and finished_at is not null`);
    await of.until(async () => (await reports()).length === 2);
    expect((await reports()).map((row) => row['hops'])).toEqual([2, 2]);
    expect(await of.query(`select 1 from jobs where parent_notice is not null`)).toEqual([]);
    const senders = await of.query(
      `select sender_worker_id, content from messages where context_id = '${contextId}' and sender_worker_id is not null`,
    );
    const received = senders.map((row) => JSON.stringify(row['content']));
    for (const { workerId, jobId: ended } of of.hired) {
      expect(received.filter((text) => text.includes(workerId) && text.includes(ended))).toHaveLength(1);
      expect(received.filter((text) => text.includes('ended: completed.\\n\\ndone'))).toHaveLength(2);
    }
  });

  test('a stopped worker gets the notice once it is started; a deleted one never', async () => {
    const of = await start();
    const { contextId, workerId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'leave:one');
    await of.ended(jobId);
    await running(of, 1);
    await of.perform(stopWorker(of.ports, { tenantId, contextId }, { by: null }));
    const child: JobId = of.hired[0]?.jobId ?? jobId;
    expect(await of.ended(child)).toMatchObject({ status: 'cancelled', parent_notice: 'due' });
    await of.perform(startWorker(of.ports, { tenantId, contextId }));
    await startBelow(of.ports, tenantId, workerId);
    await of.until(async () => (await of.job(child))['parent_notice'] === null);
    expect(await of.query(`select 1 from jobs where notice_of_job_id = '${child}'`)).toHaveLength(1);
  });
});
