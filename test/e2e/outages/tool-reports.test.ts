// What a tool reported survives the death of its process, and each execution has its own entries.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createClient, type LogEntry } from '../../../src/client/index.ts';
import { removeFolder, temporaryFolder } from '../../services/temporary-folder.ts';
import { openEnvironment } from '../rig/environment.ts';
import { startApi, startWorker } from '../rig/platform.ts';
import { until } from '../rig/until.ts';
import { LONG, SHORT_LEASE, atEnd, endAll, redis } from './outage-platform.ts';

afterEach(endAll);

test.skipIf(!redis)('a killed process keeps what it stored, and the next execution adds its own', LONG, async () => {
  const environment = await openEnvironment({});
  atEnd(() => environment.close());
  const folder = await temporaryFolder();
  atEnd(() => removeFolder(folder));
  const gate = path.join(folder, 'gate');
  const config = { NIGHTSHIFT_CONFIG: 'test/e2e/outside/reports.config.ts', REPORTS_GATE: gate };
  const env = { ...environment.env, ...SHORT_LEASE, ...config };
  const api = await startApi(env);
  const client = createClient({ url: `http://127.0.0.1:${api.env['PORT']}` });
  const first = await startWorker(env);
  const { context_id, job_id } = await client.workers.create({
    name: 'stirrer',
    config: { model: 'simulated/default', tools: ['stir'] },
    input: { content: 'call: stir {}\n---\nsay: done' },
  });
  if (job_id === undefined || job_id === null) throw new Error('no job');
  const log = (): Promise<LogEntry[]> => client.jobs.logs(job_id).all();
  await until('the first execution to report', async () => (await log()).length === 1);
  first.signal('SIGKILL');
  const second = await startWorker(env);
  await until('the second one to report', async () => (await log()).length === 2);
  writeFileSync(gate, '');
  expect((await client.jobs.wait(job_id)).status).toBe('completed');
  await until('the last entry', async () => (await log()).length === 3);
  const entries = await log();
  expect(entries.map(({ message, fields }) => [message, fields?.['pid'] ?? null])).toEqual([
    ['begun', first.pid],
    ['begun', second.pid],
    ['stirred', null],
  ]);
  expect(new Set(entries.map(({ tool_call_id }) => tool_call_id)).size).toBe(1);
  expect(entries.map(({ id }) => id.split('-')[0])).toEqual([
    expect.any(String),
    ...Array(2).fill(entries[2]?.id.split('-')[0]),
  ]);
  expect(entries[0]?.id.split('-')[0]).not.toBe(entries[1]?.id.split('-')[0]);
  const call = await client.tools.get(context_id, entries[0]?.tool_call_id ?? '');
  expect(call).toMatchObject({ log: { entries: 3, dropped: 0 }, progress: { message: 'stirring', done: 1, total: 2 } });
});
