// The metrics of MCP servers: as many series as there are servers and reasons, whatever servers do.
import { expect, test } from 'vitest';
import { parseFigures, type Sample } from '../../../src/core/figures.ts';
import { FAILURE_REASONS } from '../../../src/core/tools/server-failure.ts';
import { createWorkerMetrics } from '../../../src/workers/process/metrics/metrics.ts';

const metrics = () => createWorkerMetrics({ running: 0, capacity: 1 }, []);

async function samplesOf(all: ReturnType<typeof metrics>, name: string): Promise<Sample[]> {
  return parseFigures(await all.readOwn()).flatMap((figure) =>
    figure.name === `nightshift_${name}` ? figure.samples : [],
  );
}

test('a failure has the time, its reason and its code; of each reason the last code is kept', async () => {
  const all = metrics();
  const before = Date.now() / 1_000;
  for (let code = 0; code < 200; code += 1) all.servers.failed('files', { reason: 'exited', code });
  all.servers.failed('files', { reason: 'exited', code: null });
  all.servers.failed('files', { reason: 'http_error', code: 503 });
  all.servers.failed('mail', { reason: 'exited', code: 1 });
  const samples = await samplesOf(all, 'mcp_server_failed_timestamp_seconds');
  expect(samples.map(({ labels }) => labels)).toEqual([
    { server: 'files', reason: 'exited', code: '' },
    { server: 'files', reason: 'http_error', code: '503' },
    { server: 'mail', reason: 'exited', code: '1' },
  ]);
  for (const { value } of samples) expect(value).toBeGreaterThanOrEqual(before);
});

test('a server has at most one series for each reason', async () => {
  const all = metrics();
  for (let code = 0; code < 3; code += 1)
    for (const reason of FAILURE_REASONS) all.servers.failed('x', { reason, code });
  expect(await samplesOf(all, 'mcp_server_failed_timestamp_seconds')).toHaveLength(FAILURE_REASONS.length);
});

test('the duration of a call counts if the server answered it', async () => {
  const all = metrics();
  all.servers.called('files', { outcome: 'completed', ms: 20 });
  all.servers.called('files', { outcome: 'failed', ms: 400_000 });
  for (const outcome of ['timed_out', 'unreachable', 'cut', 'aborted'] as const)
    all.servers.called('files', { outcome });
  const samples = await samplesOf(all, 'mcp_call_seconds');
  const of = (bound: string) => samples.find(({ labels }) => labels['le'] === bound)?.value;
  expect([of('0.01'), of('0.025'), of('180'), of('600'), of('+Inf')]).toEqual([0, 1, 1, 2, 2]);
  expect(await samplesOf(all, 'mcp_calls_total')).toHaveLength(6);
});
