// The spans of a run that an internal error ends, and of the one that continues its job.
import { afterEach, expect, test } from 'vitest';
import { recording } from '../../telemetry/recording.ts';
import { says, startFleet, type Fleet } from '../worker-fleet.ts';

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
