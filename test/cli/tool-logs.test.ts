// `nightshift logs` prints what tools logged, beside the events of their context.
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../e2e/rig/until.ts';
import { openPlatform, type Platform } from './command-line.ts';

let platform: Platform;
let contextId = '';
let jobId = '';
beforeAll(async () => {
  platform = await openPlatform({ NIGHTSHIFT_CONFIG: path.join(import.meta.dirname, 'tool-logs.config.ts') });
  const config = { model: 'simulated/default', tools: ['weigh', 'tare'] };
  const worker = await platform.client.workers.create({ name: 'scales', config });
  contextId = worker.context_id;
  jobId = (await platform.client.contexts.run(contextId, { input: 'call: weigh {}\n---\nsay: weighed' })).id;
  await until('the log', async () => (await platform.client.jobs.logs(jobId).all()).length === 2);
});
afterAll(() => platform.close());

test('entries come before the result of their call, once, and control no terminal', async () => {
  const { code, out } = await platform.run(['logs', jobId]);
  expect(code).toBe(0);
  const lines = out.split('\n').filter((line) => /scale|level|2\.5 kg/.test(line));
  expect(lines).toEqual([
    '    ·  debug looking for the scale',
    '    ·  warn  not level␛[2J {"degrees":3}',
    expect.stringContaining('✓ 2.5 kg'),
  ]);
  const warnings = (await platform.run(['logs', contextId, '--level', 'warn'])).out;
  expect(warnings).toContain('not level');
  expect(warnings).not.toContain('looking for the scale');
  expect((await platform.run(['logs', contextId, '--level', 'loud'])).code).toBe(2);
});

test('--json prints each entry as a line', async () => {
  const { out } = await platform.run(['logs', jobId, '--json']);
  const lines: unknown[] = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const data = expect.objectContaining({ level: 'warn', fields: { degrees: 3 }, job_id: jobId });
  expect(lines).toContainEqual({ id: null, event: 'LogEntry', data });
});

test('-f prints the entries of a new job, each once', async () => {
  const { job_id } = await platform.client.contexts.send(contextId, 'call: weigh {}\nwait: 1500ms\n---\nsay: again');
  const { out } = await platform.run(['logs', '-f', job_id]);
  expect(out.match(/looking for the scale/g)).toHaveLength(1);
  expect(out.match(/not level/g)).toHaveLength(1);
});

test('a call that has no result yet is printed too', async () => {
  const { job_id: id } = await platform.client.contexts.send(contextId, 'call: tare {}\n---\nsay: tared');
  await until('the log', async () => (await platform.client.jobs.logs(id).all()).length === 1);
  const outputs = await Promise.all(
    [[id], [contextId], [contextId, '--tail', '0']].map(async (args) => (await platform.run(['logs', ...args])).out),
  );
  for (const out of outputs) expect(out.match(/waiting for the scale to be empty/g)).toHaveLength(1);
  expect((await platform.run(['logs', jobId])).out).not.toContain('waiting for the scale');
  await platform.client.jobs.cancel(id);
});
