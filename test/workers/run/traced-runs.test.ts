// The spans of runs in a worker process.
import { afterEach, expect, test } from 'vitest';
import { recording } from '../../telemetry/recording.ts';
import { result, says, startFleet, type Fleet } from '../worker-fleet.ts';

let of: Fleet | null = null;
afterEach(async () => of?.close());

test('a run with an internal error has a failed span, and the next one continues the job', async () => {
  const { tracing, spans } = recording();
  let calls = 0;
  of = await startFleet({
    tracing,
    model: () => {
      calls += 1;
      if (calls === 1) throw new Error('a fault of the platform');
      return says('done');
    },
  });
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'hi');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  const runs = spans.filter(({ name }) => name.startsWith('invoke_agent'));
  expect(runs.map(({ failed }) => failed)).toEqual(['internal', null]);
});

test('a name that the model invented is in no span', async () => {
  const { tracing, spans } = recording();
  of = await startFleet({
    tracing,
    model: ({ messages }) => {
      const last = messages.at(-1)?.content ?? [];
      if (last.some((block) => block.type === 'tool_result')) return says('done');
      return says('', { name: 'look', input: {} }, { name: 'invented', input: {} });
    },
    tools: { look: { execute: () => result('seen') } },
  });
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'hi');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  const calls = spans.filter(({ name }) => name.startsWith('execute_tool'));
  expect(calls.map(({ name }) => name)).toEqual(['execute_tool look']);
  expect(JSON.stringify(spans)).not.toContain('invented');
});
