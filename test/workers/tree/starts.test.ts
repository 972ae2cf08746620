// Tools start workers and queue inputs: once for each call and name, whatever dies, and within the limits of their worker.
import { afterEach, expect, test } from 'vitest';
import { createWorker } from '../../../src/commands/workers/create-worker.ts';
import type { User } from '../../../src/core/access/user.ts';
import { DEFAULT_TENANT, type ContextId, type JobId } from '../../../src/core/ids.ts';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import {
  ToolError,
  defineTool,
  type EnqueueOptions,
  type SpawnOptions,
  type ToolContext,
  type ToolReturn,
} from '../../../src/index.ts';
import { tagOf } from '../../services/statements.ts';
import { toTool } from '../../tools/to-tool.ts';
import type { Fleet } from '../worker-fleet.ts';
import { SPAWNING, childrenOf, createSpawner, resultsOf, startSpawning } from './spawning.ts';

const ANN = 'ann' as User;
const BOB = 'bob' as User;

let fleet: Fleet | null = null;
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

type Options = NonNullable<Parameters<typeof startSpawning>[0]>;

/** A fleet whose tool `work` does this. */
async function fleetOf(
  execute: (context: ToolContext) => ToolReturn | Promise<ToolReturn>,
  options: Options = {},
): Promise<Fleet> {
  const work = defineTool({
    name: 'work',
    description: 'd',
    effect: 'idempotent',
    input_schema: { type: 'object' },
    execute: (_, context) => execute(context),
  });
  fleet = await startSpawning({ own: [toTool(work)], ...options });
  return fleet;
}

/** A job whose model calls `work` once. */
async function run(of: Fleet, user: User | null = null, tools = ['work', ...SPAWNING]) {
  const { contextId, workerId } = await workerOf(of, user, { tools });
  const { jobId } = await of.post(contextId, 'call: work {}\n---\nsay: over');
  const job = await of.ended(jobId);
  const [result = ''] = await resultsOf(of, contextId);
  return { contextId, workerId, jobId, job, result };
}

function workerOf(of: Fleet, user: User | null, config = {}) {
  const worker = { tenantId: DEFAULT_TENANT, title: null, role: null, parentWorkerId: null };
  return of.perform(createWorker(of.ports, { ...worker, name: 'boss', config, user }));
}

/** As a sweep does that finds the owner dead: another process goes on. */
async function loseLease(of: Fleet, contextId: string): Promise<void> {
  await of.query(`update contexts set lease_owner = null, lease_epoch = lease_epoch + 1, scheduling_status = 'runnable',
    next_check_at = now() where id = '${contextId}'`);
}

/** What clients that follow the context learn of its children. */
const spawned = async (of: Fleet, contextId: string): Promise<unknown[]> => {
  const rows = await of.query(
    `select data from events where context_id = '${contextId}' and name = 'WorkerSpawned' order by seq`,
  );
  return rows.map(({ data }) => data);
};

/** The code of the `ToolError` that a promise rejects with, and its message. */
const refusal = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    (error: unknown) => (error instanceof ToolError ? `${error.code}: ${error.message}` : String(error)),
  );

test('a worker is created below the one that runs the tool, with its first job', async () => {
  const of = await fleetOf(({ spawn }) =>
    spawn('research', { input: 'say: found', name: 'finder', tools: ['look'], metadata: { topic: 7 } }),
  );
  const { contextId, workerId, jobId, result } = await run(of, ANN);
  const [child] = await childrenOf(of, jobId);
  expect(await spawned(of, contextId)).toEqual([
    { tool_call_id: expect.any(String), name: 'finder', worker_id: child?.['worker_id'], job_id: child?.['id'] },
  ]);
  expect(JSON.parse(result)).toEqual({
    worker_id: child?.['worker_id'],
    context_id: child?.['context_id'],
    job_id: child?.['id'],
  });
  expect(child).toMatchObject({ hops: 1, priority: 5, user_name: 'ann', metadata: { topic: 7 }, parent_notice: null });
  expect(await of.ended(child?.['id'] as JobId)).toMatchObject({ status: 'completed' });
  const [worker] = await of.query(`select * from workers where id = '${String(child?.['worker_id'])}'`);
  expect(worker).toMatchObject({
    name: 'finder',
    user_name: 'ann',
    parent_worker_id: workerId,
    root_worker_id: workerId,
    depth: 1,
    detached: false,
    config: { tools: ['look'] },
  });
  const [message] = await of.query(
    `select * from messages where job_id = '${String(child?.['id'])}' and role = 'user'`,
  );
  expect(message).toMatchObject({ sender_worker_id: workerId, content: [{ type: 'text', text: 'say: found' }] });
});

test('an input is queued in another context as a job of its own, for the user of the job', async () => {
  let target = '';
  const of = await fleetOf(({ enqueue }) =>
    enqueue('tell', { context_id: target, input: 'say: heard', priority: 3, metadata: { a: 1 } }),
  );
  const { contextId } = await workerOf(of, null);
  target = contextId;
  const { workerId, result } = await run(of);
  const started = JSON.parse(result);
  expect(started).toEqual({ context_id: target, job_id: expect.any(String), message_id: expect.any(String) });
  expect(await of.ended(started.job_id)).toMatchObject({
    status: 'completed',
    context_id: target,
    priority: 3,
    metadata: { a: 1 },
    hops: 1,
    parent_job_id: null,
  });
  const [message] = await of.query(`select * from messages where id = '${String(started.message_id)}'`);
  expect(message).toMatchObject({ sender_worker_id: workerId, content: [{ type: 'text', text: 'say: heard' }] });
});

test('an input may go to the context of the tool itself: it runs after the job', async () => {
  const of = await fleetOf(({ enqueue, context_id }) => enqueue('later', { context_id, input: 'say: later' }));
  const { contextId, result } = await run(of);
  const job = await of.ended(JSON.parse(result).job_id);
  expect(job).toMatchObject({ status: 'completed', context_id: contextId, hops: 1 });
});

test('an input may go to the context of the tool itself, also if its worker is not of the user of the job', async () => {
  const of = await fleetOf(({ enqueue, context_id }) => enqueue('later', { context_id, input: 'say: later' }));
  const { contextId } = await workerOf(of, null, { tools: ['work'] });
  const { jobId } = await of.post(contextId, 'call: work {}\n---\nsay: over', { user: ANN });
  await of.ended(jobId);
  const [result = ''] = await resultsOf(of, contextId);
  expect(await of.ended(JSON.parse(result).job_id)).toMatchObject({ context_id: contextId, user_name: 'ann' });
});

test('a further execution of the call gets what the first one started, and starts nothing', async () => {
  let executions = 0;
  let target = '';
  const of = await fleetOf(
    async ({ spawn, enqueue, step, context_id }) => {
      executions += 1;
      const started = await Promise.all([
        spawn('child', { input: 'say: child' }),
        spawn('other child', { input: 'say: other' }),
        enqueue('tell', { context_id: target, input: 'say: heard' }),
      ]);
      if (executions === 1) {
        await loseLease(of, context_id);
        await step('refused', () => 1);
      }
      return started.map(({ job_id }) => job_id);
    },
    { processes: 2 },
  );
  target = (await workerOf(of, null)).contextId;
  const { contextId, jobId, result } = await run(of);
  expect(executions).toBe(2);
  const children = await childrenOf(of, jobId);
  expect(children).toHaveLength(2);
  const followed = (await spawned(of, contextId)).map((data) => Reflect.get(Object(data), 'job_id'));
  expect(followed).toHaveLength(2);
  expect(new Set(followed)).toEqual(new Set(children.map(({ id }) => id)));
  const told = await of.query(`select id from jobs where context_id = '${target}'`);
  expect(told).toHaveLength(1);
  expect(new Set(JSON.parse(result))).toEqual(new Set([...children, ...told].map(({ id }) => id)));
});

test.each(['enqueue', 'spawn'] as const)(
  '%s: a connection lost before any of its statements starts it once',
  async (what) => {
    let target = '';
    let failAt = Infinity;
    let count = 0;
    const own = /tool_steps|lock_starting|jobs\.submit|workers\.create|workers\.hold|read_parent/;
    const of = await fleetOf(
      ({ enqueue, spawn }) =>
        what === 'enqueue'
          ? enqueue('it', { context_id: target, input: 'say: heard' })
          : spawn('it', { input: 'say: child' }),
      {
        hook: (text) => {
          if (!own.test(tagOf(text) ?? '')) return;
          count += 1;
          if (count === failAt) throw Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' });
        },
      },
    );
    for (failAt = 1; failAt <= count + 1 || count === 0; failAt += 1) {
      target = (await workerOf(of, null)).contextId;
      count = 0;
      const { jobId, result } = await run(of);
      const [child] = await of.query(
        what === 'enqueue'
          ? `select id, count(*) over ()::int as n from jobs where context_id = '${target}'`
          : `select id, count(*) over ()::int as n from jobs where parent_job_id = '${jobId}'`,
      );
      expect({ failAt, ...child }).toEqual({ failAt, id: JSON.parse(result).job_id, n: 1 });
    }
    expect(failAt).toBeGreaterThan(5);
  },
);

test('a cancelled job starts nothing', async () => {
  const began = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const seen: unknown[] = [];
  const of = await fleetOf(async ({ spawn, enqueue, step, context_id }) => {
    await step('loaded', () => 1);
    began.resolve();
    await go.promise;
    for (const start of [spawn('a', { input: 'say: a' }), enqueue('b', { context_id, input: 'say: b' })])
      await start.catch((error: unknown) => seen.push(error instanceof Error ? error.name : error));
    over.resolve();
    return '';
  });
  const { contextId } = await createSpawner(of, { tools: ['work'] });
  const { jobId } = await of.post(contextId, 'call: work {}\n---\nsay: over');
  await began.promise;
  // No signal: only the stored request tells.
  await of.query(`update jobs set stop_kind = 'cancel', stop_requested_at = now() where id = '${jobId}'`);
  go.resolve();
  expect(await of.ended(jobId)).toMatchObject({ status: 'cancelled' });
  // The job does not wait for a tool that goes on after its call was aborted.
  await over.promise;
  expect(seen).toEqual(['AbortError', 'AbortError']);
  expect(await of.query(`select id from jobs where id <> '${jobId}'`)).toEqual([]);
});

test('children end with their job, unless they are detached', async () => {
  let attachedEnds = '';
  const of = await fleetOf(async ({ spawn, signal }) => {
    const one = await spawn('attached', { input: 'wait: 60s' });
    await spawn('detached', { input: 'wait: 60s', detached: true });
    attachedEnds = one.job_id;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return '';
  });
  const { contextId } = await createSpawner(of, { tools: ['work'] });
  const { jobId } = await of.post(contextId, 'call: work {}\n---\nsay: over');
  await of.until(() => attachedEnds !== '');
  await of.cancel(jobId);
  expect(await of.ended(attachedEnds as JobId)).toMatchObject({ status: 'cancelled' });
  const [detached] = await of.query(`select j.* from jobs j join workers w on w.id = j.worker_id where w.detached`);
  expect(detached).toMatchObject({ parent_job_id: jobId, stop_kind: null });
  await of.cancel(detached?.['id'] as JobId);
});

test('the limits of the tree hold for all that one call starts at the same time', async () => {
  const of = await fleetOf(
    async ({ spawn }) =>
      Promise.all(Array.from({ length: 5 }, (_, n) => refusal(spawn(`child ${n}`, { input: 'say: child' })))),
    { team: { limits: { depth: 3, children: 2, workers: 100 } } },
  );
  const { jobId, result } = await run(of);
  const results: string[] = JSON.parse(result);
  expect(results.filter((one) => one === 'none')).toHaveLength(2);
  expect(results.filter((one) => one.startsWith('worker_limit: No worker was created.'))).toHaveLength(3);
  expect(await childrenOf(of, jobId)).toHaveLength(2);
});

const ROLES: Options['roles'] = new Map([['king', {}]]);

test.each<[string, SpawnOptions]>([
  ['unknown_role: No worker was created. No role has the name "nope".', { input: 'x', role: 'nope' }],
  ['forbidden: No worker was created. The operator does not allow the role "king"', { input: 'x', role: 'king' }],
  ['unknown_tool: No worker was created. The child cannot have the tool', { input: 'x', tools: ['http_fetch'] }],
  ['invalid_input: The options of spawn are invalid: /input must NOT have fewer than 1 characters', { input: '' }],
  ['invalid_input: The options of spawn are invalid: /metadata', { input: 'x', metadata: { a: 'x'.repeat(70_000) } }],
])('spawn is refused: %s', async (message, options) => {
  const of = await fleetOf(({ spawn }) => refusal(spawn('child', options)), { roles: ROLES });
  await of.query(`update tenants set allow = '{"roles": ["nope"]}' where id = ${DEFAULT_TENANT}`);
  const { result, jobId } = await run(of);
  expect(result).toContain(message);
  expect(await childrenOf(of, jobId)).toEqual([]);
  expect(await of.query(`select 1 from tool_steps`)).toEqual([]);
});

test('an input reaches only contexts of the tenant, and of the user of the job', async () => {
  let options: EnqueueOptions = { context_id: '', input: 'say: x' };
  const of = await fleetOf(({ enqueue }) => refusal(enqueue('it', options)));
  const another = await ensureTenant(of.database.db, 'another');
  const [ofAnn, ofBob, ofNone, strange, stopped] = await Promise.all([
    workerOf(of, ANN),
    workerOf(of, BOB),
    workerOf(of, null),
    workerOf(of, null),
    workerOf(of, null),
  ]);
  for (const table of ['contexts', 'workers', 'branches'])
    await of.query(`update ${table} set tenant_id = ${another}
      where ${table === 'contexts' ? 'id' : 'context_id'} = '${strange.contextId}'`);
  await of.query(`update contexts set stopped = true where id = '${stopped.contextId}'`);
  const attempt = async (context_id: string, user: User | null): Promise<string> => {
    options = { ...options, context_id };
    return (await run(of, user)).result;
  };
  const noContext = ({ contextId }: { contextId: ContextId }) => `not_found: No context has the id ${contextId}.`;
  expect(await attempt(ofAnn.contextId, ANN)).toBe('none');
  expect(await attempt(ofAnn.contextId, null)).toBe('none');
  expect(await attempt(ofBob.contextId, ANN)).toBe(noContext(ofBob));
  expect(await attempt(ofNone.contextId, ANN)).toBe(noContext(ofNone));
  expect(await attempt(strange.contextId, null)).toBe(noContext(strange));
  expect(await attempt('nonsense', null)).toBe('not_found: No context has the id nonsense.');
  expect(await attempt(stopped.contextId, null)).toMatch(/^worker_stopped: /);
  await of.query(`update tenants set limits = '{"queued_jobs": 0}' where id = ${DEFAULT_TENANT}`);
  expect(await attempt(ofAnn.contextId, ANN)).toMatch(/^quota_exceeded: /);
});

test('workers that pass an input on from one to the next end at the limit of hops', async () => {
  const results: string[] = [];
  const of = await fleetOf(async ({ enqueue, context_id }) => {
    const result = await refusal(enqueue('again', { context_id, input: 'call: work {}\n---\nsay: again' }));
    results.push(result);
    return result;
  });
  await run(of);
  await of.until(() => results.at(-1) !== 'none');
  expect(results.length).toBeGreaterThan(2);
  expect(results.at(-1)).toMatch(/^worker_limit: Workers already passed this on \d+ times\./);
});
