// A result that a run already has is not dropped because others wrote meanwhile.
import { afterEach, expect, test } from 'vitest';
import type { Accepted } from '../../../src/commands/inputs/posted-input.ts';
import { fails, says, startFleet, transcript, type Fleet } from '../worker-fleet.ts';

let fleet: Fleet | null = null;
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

test('a permanent failure is kept where an input was queued meanwhile: the model is not asked again', async () => {
  let calls = 0;
  const of: Fleet = await startFleet({
    model: async () => {
      calls += 1;
      if (calls > 1) return says('next');
      posted.push(await of.post(contextId, 'b'));
      return fails({ class: 'auth', message: 'bad key', retryAfterMs: null });
    },
  });
  fleet = of;
  const posted: Accepted[] = [];
  const { contextId } = await of.createContext();
  const first = await of.post(contextId, 'a');
  expect(await of.ended(first.jobId)).toMatchObject({ status: 'failed', error: { code: 'provider_auth' } });
  await of.until(() => calls === 2);
  for (const { jobId } of posted) expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(calls).toBe(2);
});

test('an answer is kept where an input was queued meanwhile', async () => {
  let calls = 0;
  const of: Fleet = await startFleet({
    model: async () => {
      calls += 1;
      if (calls === 1) await of.post(contextId, 'b');
      return says(`answer ${calls}`);
    },
  });
  fleet = of;
  const { contextId } = await of.createContext();
  await of.post(contextId, 'a');
  await of.until(async () => (await of.history(contextId)).length === 4);
  expect(transcript(await of.history(contextId))).toEqual([
    'u1 user: a',
    'a1 assistant: answer 1',
    'u2 user: b',
    'a2 assistant: answer 2',
  ]);
});
