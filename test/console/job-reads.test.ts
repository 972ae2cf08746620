// A job that is shown is read again after events and in intervals, without a browser.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { JobReads } from '../../web/src/data/live/job-reads.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** `done`: ends the first read that has not ended. */
function prepare() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const reads = new JobReads((jobId, part) => {
    begun.push(`${jobId} ${part}`);
    return new Promise<void>((resolve) => ends.push(resolve));
  });
  const done = async (): Promise<void> => {
    ends.shift()?.();
    await vi.advanceTimersByTimeAsync(1_000);
  };
  return { reads, begun, done };
}

test('a read that takes longer than the interval is not replaced, and what is asked meanwhile is one more read', async () => {
  const { reads, begun, done } = prepare();
  reads.ask('j', 'all');
  for (let tick = 0; tick < 5; tick += 1) {
    reads.ask('j', 'steps');
    await vi.advanceTimersByTimeAsync(6_000);
  }
  expect(begun).toEqual(['j all']);
  await done();
  expect(begun).toEqual(['j all', 'j steps']);
  await done();
  expect(begun).toHaveLength(2);
  reads.ask('j', 'steps');
  expect(begun).toHaveLength(3);
});

test('of what is asked while a job is read, all of it includes its steps; other jobs are read beside it', async () => {
  const { reads, begun, done } = prepare();
  reads.ask('j', 'steps');
  reads.ask('j', 'all');
  reads.ask('j', 'steps');
  reads.ask('k', 'steps');
  expect(begun).toEqual(['j steps', 'k steps']);
  await done();
  expect(begun).toEqual(['j steps', 'k steps', 'j all']);
});
