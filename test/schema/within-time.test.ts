// Work on a client's data is stopped when its time is up, but not because the machine was busy.
import { expect, test } from 'vitest';
import { withinTime } from '../../src/schema/within-time.ts';

/** Waits without using the processor, as a thread does on a busy machine. */
function starve(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('work that had little of the processor is started again', () => {
  let starts = 0;
  const result = withinTime(50, () => {
    starts += 1;
    if (starts === 1) starve(100);
    return starts;
  });
  expect(result).toEqual({ ok: true, value: 2 });
});

test('but not without an end', () => {
  let starts = 0;
  const result = withinTime(20, () => {
    starts += 1;
    for (;;) starve(40);
  });
  expect(result).toEqual({ ok: false });
  expect(starts).toBe(4);
});
