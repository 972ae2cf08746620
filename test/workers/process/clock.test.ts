import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DatabaseClock } from '../../../src/workers/process/clock.ts';

const HOUR = 3_600_000;

/** The clock of the machine stands still, however long this process is delayed between two lines. */
let elapsed = 0;
beforeEach(() => {
  elapsed = 5_000;
  vi.spyOn(performance, 'now').mockImplementation(() => elapsed);
});
afterEach(() => {
  vi.restoreAllMocks();
});

test('a reply that took longer to arrive does not set the clock back', () => {
  const clock = new DatabaseClock();
  clock.set(HOUR, elapsed);
  elapsed += 40;
  clock.set(HOUR - 200, elapsed);
  expect(clock.now()).toBe(HOUR + 40);
});

test('a clock that was set, forward or back, is followed', () => {
  const clock = new DatabaseClock();
  clock.set(HOUR, elapsed);
  expect(clock.now()).toBe(HOUR);
  clock.set(2 * HOUR, elapsed);
  expect(clock.now()).toBe(2 * HOUR);
  elapsed += 7;
  clock.set(HOUR, elapsed);
  expect(clock.now()).toBe(HOUR);
  elapsed += 3;
  expect(clock.now()).toBe(HOUR + 3);
});

test('a reply that was late by its round trip does not set the clock back, however late it was', () => {
  const clock = new DatabaseClock();
  clock.set(HOUR, elapsed);
  const sentAt = elapsed;
  elapsed += 900;
  // Read at once, and delivered 900 ms later.
  clock.set(HOUR + 10, sentAt);
  expect(clock.now()).toBe(HOUR + 900);
  clock.set(HOUR + 10, elapsed - 5);
  expect(clock.now()).toBe(HOUR + 10);
});

test('the time of a claim moves the clock forward only', () => {
  const clock = new DatabaseClock();
  clock.advance(HOUR);
  expect(clock.now()).toBe(HOUR);
  clock.advance(HOUR - 10_000);
  expect(clock.now()).toBe(HOUR);
  clock.advance(HOUR + 5);
  expect(clock.now()).toBe(HOUR + 5);
});
