// Worker processes count calls of tools and store the figures, at the latest when they end.
import { afterEach, expect, test } from 'vitest';
import { DEFAULT_TENANT, type ContextId, type JobId, type ToolCallId } from '../../../src/core/ids.ts';
import { UseCounter } from '../../../src/workers/process/metrics/use-counter.ts';
import { says, result, startFleet, type Fleet } from '../worker-fleet.ts';

let fleet: Fleet | null = null;
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

test('a process that ends has stored what its runs used, with the failure and its job', async () => {
  let steps = 0;
  const calls = ['look', 'look', 'break_it'];
  fleet = await startFleet({
    model: () => {
      const name = calls[steps];
      steps += 1;
      return name === undefined ? says('done') : says('', { name, input: {} }, { name: 'made_up', input: {} });
    },
    tools: {
      look: { execute: () => result('seen') },
      break_it: { effect: 'once', execute: () => ({ ...result('broken'), is_error: true, code: 'it_broke' }) },
    },
  });
  const of = fleet;
  const { jobId, contextId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(await of.query('select * from tool_use')).toEqual([]);
  await Promise.all(of.processes.map((process) => process.drain()));
  const rows = await of.query(`select tool, completed, failed, codes, failures,
    (select sum(n)::int from unnest(times) n) as ran from tool_use order by tool`);
  expect(rows).toEqual([
    {
      tool: 'break_it',
      completed: 0,
      failed: 1,
      codes: { it_broke: 1 },
      failures: [expect.objectContaining({ code: 'it_broke', job_id: jobId, context_id: contextId })],
      ran: 1,
    },
    { tool: 'look', completed: 2, failed: 0, codes: {}, failures: [], ran: 2 },
  ]);
});

const ended = (name: string, code = 'error') => ({
  id: 'call' as ToolCallId,
  name,
  status: 'failed' as const,
  code,
  tenantId: DEFAULT_TENANT,
  contextId: 'context' as ContextId,
  jobId: 'job' as JobId,
  at: 1,
});

test('a code may have the name of a member that every object has', () => {
  const counter = new UseCounter();
  const names = ['constructor', 'toString', '__proto__'];
  for (const code of [...names, ...names]) counter.ended(ended('look', code));
  const [counted] = counter.take();
  expect(Object.entries(counted?.use.codes ?? {})).toEqual(names.map((name) => [name, 2]));
});

test('tools, codes and failures that are counted at once are bounded', () => {
  const counter = new UseCounter();
  for (let n = 0; n < 300; n += 1) counter.ended(ended(`tool${n}`));
  for (let n = 0; n < 100; n += 1) counter.ended(ended('tool0', `code${n}`));
  const taken = counter.take();
  expect(taken).toHaveLength(200);
  const use = taken.find(({ tool }) => tool === 'tool0')?.use;
  expect(use?.failed).toBe(101);
  expect(Object.keys(use?.codes ?? {})).toHaveLength(21);
  expect(use?.codes['other']).toBe(81);
  expect(use?.failures).toHaveLength(5);
  expect(counter.take()).toEqual([]);
});
