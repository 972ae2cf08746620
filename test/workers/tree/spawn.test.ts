// Workers make workers, and wait for them: without a slot, in the commit that records the wait, once for each call.
import { afterEach, describe, expect, inject, test } from 'vitest';
import { DEFAULT_TENANT, type ContextId, type JobId } from '../../../src/core/ids.ts';
import type { User } from '../../../src/core/access/user.ts';
import { createWorker } from '../../../src/commands/workers/create-worker.ts';
import { SPAWNING, childrenOf, createSpawner, resultsOf, spawn, startSpawning, treeScript } from './spawning.ts';
import type { Fleet } from '../worker-fleet.ts';

const USER = 'ann' as User;
/** Looks like the encoding of a character that PostgreSQL does not store. */
const OTHER = '\uF8FE0061lice' as User;

let fleet: Fleet | null = null;
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

async function start(...options: Parameters<typeof startSpawning>): Promise<Fleet> {
  fleet = await startSpawning(...options);
  return fleet;
}

async function run(of: Fleet, script: string, config?: Parameters<typeof createSpawner>[1]) {
  const made = await createSpawner(of, config);
  const { jobId } = await of.post(made.contextId, script);
  const job = await of.ended(jobId);
  return { ...made, jobId, job, results: await resultsOf(of, made.contextId) };
}

describe('a worker whose tenant may not use everything', () => {
  const ROLES = new Map([
    ['king', {}],
    ['coder', { tools: ['look', 'http_fetch'] }],
    ['costly', { model: 'simulated/costly' }],
  ]);

  test.each([
    [{ role: 'king' }, { roles: ['coder'] }, 'The operator does not allow the role "king" for this tenant.'],
    [{ role: 'unknown' }, { roles: ['coder'] }, 'The operator does not allow the role "unknown" for this tenant.'],
    [{ model: 'simulated/costly' }, { models: ['*/test'] }, 'The operator does not allow the model "simulated/costly"'],
    [{ role: 'costly' }, { models: ['*/test'] }, 'The operator does not allow the model "simulated/costly"'],
    [{ role: 'coder', tools: ['http_fetch'] }, { tools: SPAWNING }, 'The child cannot have the tool "http_fetch".'],
  ])('makes no child that would use it, and reads why: %j with %j', async (more, allow, message) => {
    const of = await start({ roles: ROLES });
    await of.query(`update tenants set allow = '${JSON.stringify(allow)}' where id = ${DEFAULT_TENANT}`);
    const { jobId, job, results } = await run(of, `${spawn('say: child', more)}\n---\nsay: over`);
    expect(job).toMatchObject({ status: 'completed' });
    expect(results).toHaveLength(1);
    expect(results[0]).toContain('No worker was created.');
    expect(JSON.parse(results[0] ?? '').error.message).toContain(message);
    expect(await childrenOf(of, jobId)).toEqual([]);
  });

  test('makes a child that has what is left', async () => {
    const of = await start({ roles: ROLES });
    await of.query(`update tenants set allow = '{"tools": ["spawn*", "look"]}' where id = ${DEFAULT_TENANT}`);
    const input = 'call: http_fetch {}\ncall: look {}\n---\nsay: child';
    const { jobId } = await run(of, `${spawn(input, { role: 'coder' })}\n---\nsay: over`);
    const [child] = await childrenOf(of, jobId);
    expect(await resultsOf(of, child?.['context_id'] as ContextId)).toEqual([
      expect.stringContaining('There is no tool named http_fetch. Available tools: look.'),
      'seen',
    ]);
  });
});

describe('a worker that makes another one', () => {
  test('waits for its job without a slot, and gets its answer', async () => {
    const of = await start({ concurrency: 1 });
    const { jobId, workerId, job, results } = await run(of, `${spawn('say: I am the child')}\n---\nsay: over`);
    expect(job).toMatchObject({ status: 'completed' });
    const [child] = await childrenOf(of, jobId);
    expect(child).toMatchObject({ status: 'completed', parent_notice: null, hops: 1 });
    expect(results.map((text) => JSON.parse(text))).toEqual([
      {
        worker_id: child?.['worker_id'],
        job_id: child?.['id'],
        status: 'completed',
        output: 'I am the child',
      },
    ]);
    const [worker] = await of.query(`select * from workers where id = '${String(child?.['worker_id'])}'`);
    expect(worker).toMatchObject({
      parent_worker_id: workerId,
      root_worker_id: workerId,
      depth: 1,
      detached: false,
    });
    expect(await of.query('select 1 from awaited_jobs')).toEqual([]);
  });

  test("continues at once where it does not wait, and a notice of the child's end is due", async () => {
    const of = await start();
    const { jobId, results } = await run(
      of,
      `${spawn('wait: 50ms\nsay: child', { wait: false, detached: true })}\n---\nsay: over`,
    );
    const [child] = await childrenOf(of, jobId);
    expect(results.map((text) => JSON.parse(text))).toEqual([
      { worker_id: child?.['worker_id'], job_id: child?.['id'], status: 'queued', output: null },
    ]);
    expect(await of.ended(child?.['id'] as JobId)).toMatchObject({ status: 'completed' });
    const received = `select 1 from jobs where notice_of_job_id = '${String(child?.['id'])}'`;
    await of.until(async () => (await of.query(received)).length === 1);
    expect(await of.query(`select 1 from workers where detached`)).toHaveLength(1);
  });

  test('needs approval where a rule says so, also with arguments that its schema does not have', async () => {
    const of = await start();
    const config = { tools: SPAWNING, approval: [{ tool: 'spawn_worker', decision: 'always' as const }] };
    const made = await createSpawner(of, config);
    const script = `${spawn('say: child', { name: null })}\n---\nsay: over`;
    const { jobId } = await of.post(made.contextId, script);
    await of.until(async () => (await of.job(jobId))['status'] === 'waiting');
    expect(await of.query('select 1 from workers')).toHaveLength(1);
    await of.judge(made.contextId, { decision: 'deny' });
    expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
    expect(await of.query('select 1 from workers')).toHaveLength(1);
  });

  test('hands its user on: the worker has that of its parent, the job that of the job', async () => {
    const of = await start();
    const worker = { tenantId: DEFAULT_TENANT, user: USER, name: 'boss', title: null, role: null };
    const config = { tools: SPAWNING };
    const { contextId } = await of.perform(createWorker(of.ports, { ...worker, config, parentWorkerId: null }));
    const script = `${spawn(`${spawn('say: b')}\n---\nsay: a`, { wait: false })}\n---\nsay: over`;
    await of.post(contextId, script, { user: OTHER });
    // The notice of the end of the child is a job of the boss.
    await of.until(async () => {
      const jobs = await of.query('select finished_at from jobs');
      return jobs.length === 4 && jobs.every(({ finished_at: at }) => at !== null);
    });
    for (const table of ['workers', 'contexts'])
      expect(await of.query(`select distinct user_name as "user" from ${table}`)).toEqual([{ user: USER }]);
    expect(await of.query('select distinct user_name as "user" from jobs')).toEqual([{ user: OTHER }]);
  });

  test('makes all children of one answer in one commit, beside a tool that runs', async () => {
    const of = await start();
    const script = [
      spawn('say: a'),
      'call: look {}',
      spawn('say: b', { wait: false }),
      spawn('fail: auth'),
      '---',
      'say: over',
    ];
    const { jobId, job, results } = await run(of, script.join('\n'));
    expect(job).toMatchObject({ status: 'completed' });
    expect(await childrenOf(of, jobId)).toHaveLength(3);
    expect(results).toHaveLength(4);
    expect(results.filter((text) => text === 'seen')).toHaveLength(1);
    const received = results.filter((text) => text !== 'seen').map((text) => JSON.parse(text));
    expect(new Set(received.map(({ status }) => status))).toEqual(new Set(['completed', 'failed', 'queued']));
    expect(received.find(({ status }) => status === 'failed')).toMatchObject({
      output: null,
      error: { code: 'provider_auth' },
    });
  });

  test('a tree is finished by one slot, each parent waiting for its children', async () => {
    const of = await start({ concurrency: 1 });
    const { job } = await run(of, treeScript([2, 2, 2]));
    expect(job).toMatchObject({ status: 'completed' });
    expect(await of.query(`select 1 from jobs where status = 'completed'`)).toHaveLength(15);
    expect(await of.query('select 1 from awaited_jobs')).toEqual([]);
  });
});

test.skipIf(inject('redisUrl') === null)('wake-ups alone run a tree: no step waits for a sweep', async () => {
  const of = await start({ concurrency: 1, times: { sweepMs: 60_000 } });
  const { job } = await run(of, treeScript([3, 2]));
  expect(job).toMatchObject({ status: 'completed' });
});

test('without wake-ups: sweeps find children, and parents that wait for them', async () => {
  const of = await start({ concurrency: 1, queue: 'deaf' });
  const { job } = await run(of, treeScript([2, 1]));
  expect(job).toMatchObject({ status: 'completed' });
});

describe('an invalid request is reported in text, and nothing is made', () => {
  test.each([
    ['an unknown role', { role: 'cook' }, 'unknown_role', /No role has the name "cook"/],
    ['a tool that it has not', { tools: ['look', 'fly'] }, 'unknown_tool', /cannot have the tool "fly"/],
    ['an unknown model', { model: 'unknown/x' }, 'unavailable', /No worker process has the model unknown\/x/],
    ['an unknown member', { colour: 'red' }, 'invalid_input', /additional properties/],
  ])('%s', async (_, more, code, problem) => {
    const of = await start();
    const { job, results } = await run(of, `${spawn('say: a', more)}\n---\nsay: over`);
    expect(job).toMatchObject({ status: 'completed' });
    expect(results).toHaveLength(1);
    expect(JSON.parse(results[0] ?? '')).toEqual({
      error: { code, message: expect.stringMatching(problem) },
    });
    expect(await of.query('select 1 from workers')).toHaveLength(1);
  });

  test.each([
    ['depth', { depth: 0 }, /the limit is 0/],
    ['children', { children: 1 }, /1 of at most 1 children/],
    ['workers at work', { workers: 2 }, /2 of at most 2 workers of this tree/],
  ])('too many: %s', async (_, limits, problem) => {
    const of = await start();
    const script = `${spawn('say: a')}\n${spawn('say: b')}\n---\nsay: over`;
    const { results } = await run(of, script, { tools: ['spawn_worker'], limits });
    expect(results.join('\n')).toMatch(problem);
    expect(results.join('\n')).toContain('"code":"worker_limit"');
    expect((await of.query('select 1 from workers')).length).toBeLessThan(3);
  });

  test.each(['workers', 'queued_jobs'])('more than the limit of the tenant: %s', async (limit) => {
    const of = await start();
    const most = limit === 'workers' ? 2 : 1;
    await of.query(`update tenants set limits = '{"${limit}": ${most}}' where id = 1`);
    const script = `${spawn('say: a')}\n${spawn('say: b')}\n---\nsay: over`;
    const { job, results } = await run(of, script, { tools: ['spawn_worker'] });
    expect(job).toMatchObject({ status: 'completed' });
    expect(results.join('\n')).toContain('"code":"quota_exceeded"');
    expect(results.join('\n')).toMatch(
      /No worker was created. The tenant may have . (workers|queued and delayed jobs), and has no room for more/,
    );
    expect(await of.query('select 1 from workers')).toHaveLength(2);
  });

  test('a child of another role needs the approvals of its parent, and has its denials', async () => {
    const roles = new Map([['other', { tools: ['look'] }]]);
    const of = await start({ roles });
    await run(of, spawn('call: look {}\n---\nsay: looked', { role: 'other' }), {
      tools: ['spawn_worker', 'look'],
      approval: [
        { tool: 'spawn_worker', decision: 'never' },
        { tool: 'look', decision: 'deny' },
      ],
    });
    expect(await of.query("select status from tool_calls where name = 'look'")).toEqual([{ status: 'denied' }]);
    const [child] = await of.query("select config from workers where role = 'other'");
    expect(child?.['config']).toMatchObject({ approval: [{ tool: 'look', decision: 'deny' }] });
  });

  test('a child that is given tools by name has those and no others, and none that a client runs', async () => {
    const of = await start();
    const notify = { name: 'wake_up', description: 'Rings.', input_schema: { type: 'object' } };
    await run(of, spawn('say: a', { tools: ['look'] }), { tools: SPAWNING, client_tools: [notify] });
    const [child] = await of.query('select config from workers where depth = 1');
    expect(child?.['config']).toMatchObject({ tools: ['look'], mcp_servers: [], client_tools: [] });
  });

  test('a child never has wider limits than its parent, whatever its role says', async () => {
    const roles = new Map([['deep', { tools: ['spawn_worker'], limits: { depth: 9 } }]]);
    const of = await start({ roles });
    const script = spawn(spawn('say: grandchild'), { role: 'deep' });
    await run(of, script, { tools: ['spawn_worker'], limits: { depth: 1 } });
    expect(await of.query('select 1 from workers')).toHaveLength(2);
  });
});

describe('wait_for_workers', () => {
  /** A parent that made two children without waiting for them, idle again. */
  async function withChildren(of: Fleet, ...scripts: string[]) {
    const made = scripts.map((script) => spawn(script, { wait: false }));
    const parent = await run(of, `${made.join('\n')}\n---\nsay: made`);
    const children = await childrenOf(of, parent.jobId);
    return {
      ...parent,
      ids: children.map(({ worker_id }) => String(worker_id)),
      jobs: children.map(({ id }) => id as JobId),
    };
  }

  const running = (of: Fleet, jobId: JobId | undefined) =>
    of.until(async () => (await of.job(jobId as JobId))['status'] === 'running');

  async function ask(of: Fleet, contextId: ContextId, input: object) {
    const before = (await resultsOf(of, contextId)).length;
    const { jobId } = await of.post(contextId, `call: wait_for_workers ${JSON.stringify(input)}\n---\nsay: over`);
    await of.ended(jobId);
    return (await resultsOf(of, contextId))[before] ?? '';
  }

  test('returns how each of them ended, in the order asked', async () => {
    const of = await start();
    const { contextId, ids } = await withChildren(of, 'wait: 300ms\nsay: one', 'say: two');
    const received = JSON.parse(await ask(of, contextId, { worker_ids: [...ids].reverse() }));
    expect(received).toEqual([
      { worker_id: ids[1], status: 'completed', output: 'two' },
      { worker_id: ids[0], status: 'completed', output: 'one' },
    ]);
  });

  test('any: the first end is enough', async () => {
    const begun = Promise.withResolvers<void>();
    const of = await start({ look: () => begun.promise.then(() => 'seen') });
    const waits = 'call: look {}\n---\nsay: one';
    const { contextId, ids, jobs } = await withChildren(of, waits, 'wait: 10m\nsay: two');
    await running(of, jobs[1]);
    begun.resolve();
    const received = JSON.parse(await ask(of, contextId, { worker_ids: ids, mode: 'any' }));
    expect(received).toEqual([
      { worker_id: ids[0], status: 'completed', output: 'one' },
      { worker_id: ids[1], status: 'running', output: null },
    ]);
  });

  test('after its timeout it returns the results so far', async () => {
    const of = await start();
    const { contextId, ids, jobs } = await withChildren(of, 'say: one', 'wait: 10m\nsay: two');
    await of.ended(jobs[0] as JobId);
    await running(of, jobs[1]);
    const received = JSON.parse(await ask(of, contextId, { worker_ids: ids, timeout_s: 0.3 }));
    expect(received).toEqual([
      { worker_id: ids[0], status: 'completed', output: 'one' },
      { worker_id: ids[1], status: 'running', output: null },
    ]);
    expect(await of.query('select 1 from awaited_jobs')).toEqual([]);
  });

  test('accepts only workers below it', async () => {
    const of = await start();
    const { contextId, workerId, ids } = await withChildren(of, 'say: one');
    expect(await ask(of, contextId, { worker_ids: [workerId] })).toMatch(/cannot wait for itself/);
    expect(await ask(of, contextId, { worker_ids: ['x'] })).toMatch(/not a worker id/);
    const other = await createSpawner(of);
    expect(await ask(of, contextId, { worker_ids: [ids[0], other.workerId] })).toMatch(/No worker below this one/);
    expect(await ask(of, other.contextId, { worker_ids: ids })).toMatch(/No worker below this one/);
  });
});
