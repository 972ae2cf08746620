// A tree of workers (of five hundred at full depth), in which every parent waits for its children, is finished by one
// process that runs one context at a time; and by one that is killed again and again.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { depth } from '../services/depth.ts';
import { killChildren } from './rig/children.ts';
import { endedWell, startCrashWorker } from './crash/crash-scenarios.ts';
import { withEnvironment, type TestEnvironment } from './rig/environment.ts';
import { treeScript } from '../workers/tree/spawning.ts';

afterAll(killChildren);

const LONG = { timeout: 600_000 };

/** Children of a worker at each level. */
const FAN = depth([3, 3, 4], [4, 4, 5, 5]);
/** Workers at each level: the root, its children, theirs. */
const LEVELS = FAN.reduce((levels, fan) => [...levels, fan * (levels.at(-1) ?? 1)], [1]);
const WORKERS = LEVELS.reduce((sum, count) => sum + count, 0);
const KILLS = depth(3, 12);
const LONGEST_LIFE_MS = depth(600, 1_650);

async function growTree(work: (environment: TestEnvironment) => Promise<void>): Promise<void> {
  await withEnvironment(async (environment) => {
    const contextId = await environment.createContext({ model: 'simulated/tree', tools: ['spawn_worker'] });
    await environment.post(contextId, treeScript(FAN));
    await work(environment);
    await expectWhole(environment);
  });
}

/** Every worker completed; each call made one, and its parent got its answer once. */
async function expectWhole(environment: TestEnvironment): Promise<void> {
  expect(await environment.query('select status, count(*)::int as n from jobs group by status')).toEqual([
    { status: 'completed', n: WORKERS },
  ]);
  expect(
    await environment.query('select depth, count(*)::int as n from workers group by depth order by depth'),
  ).toEqual(LEVELS.map((n, level) => ({ depth: level, n })));
  const received = await environment.query(`
    select w.name, count(r.result) as results, min((r.result ->> 'content')::jsonb ->> 'output') as output,
      min((r.result ->> 'content')::jsonb ->> 'status') as status
    from jobs j join workers w on w.id = j.worker_id join tool_calls t on t.id = j.parent_tool_call_id
    left join lateral (
      select b as result from messages m cross join lateral json_array_elements(m.content) b
      where m.context_id = t.context_id and m.role = 'tool' and b ->> 'tool_use_id' = t.id::text) r on true
    where j.parent_job_id is not null group by j.id, w.name`);
  expect(received).toHaveLength(WORKERS - 1);
  for (const { name, results, output, status } of received) {
    expect({ results: Number(results), output, status }).toEqual({
      results: 1,
      output: name,
      status: 'completed',
    });
  }
  expect(await environment.query(`select 1 from tool_calls where status <> 'completed'`)).toEqual([]);
  expect(await environment.query('select count(*)::int as n from tool_calls')).toEqual([{ n: WORKERS - 1 }]);
  expect(await environment.query('select 1 from awaited_jobs')).toEqual([]);
}

test(`one slot finishes a tree of ${WORKERS} workers`, LONG, async () => {
  await growTree(async (environment) => {
    const began = performance.now();
    const worker = startCrashWorker(environment, { CONCURRENCY: '1' });
    await worker.says(/^up$/);
    while (!(await environment.isSettled())) await sleep(100);
    process.stdout.write(`a tree of ${WORKERS} workers by one slot: ${Math.round(performance.now() - began)} ms\n`);
    expect(await endedWell(worker)).toBe(true);
  });
});

test('a process that is killed at random, again and again, leads to the same result', LONG, async () => {
  await growTree(async (environment) => {
    let kills = 0;
    while (kills < KILLS && !(await environment.isSettled())) {
      const worker = startCrashWorker(environment, { CONCURRENCY: '1' });
      await worker.says(/^up$/);
      await sleep(150 + Math.random() * (LONGEST_LIFE_MS - 150));
      worker.signal('SIGKILL');
      await worker.exited;
      kills += 1;
    }
    const last = startCrashWorker(environment, { CONCURRENCY: '1' });
    await last.says(/^up$/);
    while (!(await environment.isSettled())) await sleep(100);
    expect(await endedWell(last)).toBe(true);
    process.stdout.write(`a tree of ${WORKERS} workers was finished over ${kills} kills\n`);
    expect(kills).toBeGreaterThan(0);
  });
});
