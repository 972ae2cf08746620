import { expect, test } from 'vitest';
import { untilDeadline } from '../../src/agent/waits/until-deadline.ts';
import { job as makeJob } from '../core/builders.ts';

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

test('the deadline follows the clock, not the timer: nothing ends before the clock has reached it', async () => {
  const start = performance.now();
  // A clock that is set back a little during the wait.
  const clock = { now: () => performance.now() - start - (performance.now() - start > 5 ? 20 : 0) };
  const job = makeJob({ deadline: 30 });
  const seen = await untilDeadline(clock, job, new AbortController().signal, async (signal) => {
    await ended(signal);
    return clock.now();
  });
  expect(seen).toBeGreaterThanOrEqual(30);
});

test('a deadline in the past ends the work at once', async () => {
  const job = makeJob({ deadline: 10 });
  const isEnded = await untilDeadline(
    { now: () => 11 },
    job,
    new AbortController().signal,
    async (signal) => signal.aborted,
  );
  expect(isEnded).toBe(true);
});
