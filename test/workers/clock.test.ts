import { expect, test } from 'vitest';
import { DatabaseClock } from '../../src/workers/clock.ts';

const HOUR = 3_600_000;

test('word that took longer to arrive does not set the clock back', () => {
  const clock = new DatabaseClock();
  clock.set(HOUR);
  clock.set(HOUR - 200);
  expect(clock.now()).toBeGreaterThanOrEqual(HOUR);
});

test('a clock that was set, forward or back, is followed', () => {
  const clock = new DatabaseClock();
  clock.set(HOUR);
  expect(clock.now()).toBeLessThan(HOUR + 10_000);
  clock.set(2 * HOUR);
  expect(clock.now()).toBeGreaterThanOrEqual(2 * HOUR);
  clock.set(HOUR);
  expect(clock.now()).toBeLessThan(HOUR + 10_000);
});
