// How a worker process ends: with its work, not with its timers.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { says, startFleet } from '../worker-fleet.ts';

const LONG_MS = 120_000;

test('a process that runs nothing drains at once, however far apart its sweeps and heartbeats are', async () => {
  const fleet = await startFleet({
    model: () => says('done'),
    times: { sweepMs: LONG_MS, heartbeatIntervalMs: LONG_MS, heartbeatTimeoutMs: 2 * LONG_MS, drainMs: LONG_MS },
  });
  onTestFinished(() => fleet.close());
  const { jobId } = await fleet.begin('go');
  expect(await fleet.ended(jobId)).toMatchObject({ status: 'completed' });
  const late = new AbortController();
  const drained = Promise.all(fleet.processes.map((process) => process.drain())).then(() => 'drained');
  // The pauses of its sweeps and heartbeats have then just begun.
  const waiting = sleep(LONG_MS / 4, 'still waiting', { signal: late.signal }).catch(() => 'not asked');
  expect(await Promise.race([drained, waiting])).toBe('drained');
  late.abort();
  expect(await fleet.query('select 1 from processes where dead_at is null or dead_at > now()')).toEqual([]);
});
