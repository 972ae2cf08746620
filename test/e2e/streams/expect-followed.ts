// The expected result of a program that followed a stream over the death of its API, wherever it ran.
import { expect } from 'vitest';
import type { Followed } from './follower.ts';

export function expectAllFollowed({ numbers, replayed, before, after, second, jobs }: Followed): void {
  expect(numbers).toEqual(replayed);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((one, other) => one - other));
  expect(after.length).toBeGreaterThan(before.length);
  expect(after.startsWith(before), `“${before}” arrived as “${after.slice(0, before.length)}”`).toBe(true);
  expect(jobs.map(({ status }) => status)).toEqual(['interrupted', 'completed']);
  expect(jobs[1]?.output?.text).toBe(second);
}
