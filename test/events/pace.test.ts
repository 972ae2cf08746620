// When gathered frames are published: at once while that is cheap, and never for more than a third of the time.
import { beforeEach, expect, test } from 'vitest';
import { Pace, type Gathered } from '../../src/events/pace.ts';

let now = 0;
let set: { at: number; run: () => void }[] = [];
let published: string[] = [];
let pace: Pace;
beforeEach(() => {
  now = 0;
  set = [];
  published = [];
  pace = new Pace({ now: () => now, after: (ms, run) => void set.push({ at: now + ms, run }) });
});

/** Takes `ms` to publish. */
function costing(ms: number, name = ''): Gathered {
  return {
    send() {
      now += ms;
      published.push(name);
    },
  };
}

/** Runs the next scheduled step; returns how long that waited. */
function next(): number {
  const [one, ...more] = set;
  if (one === undefined) throw new Error('no step is scheduled');
  expect(more).toEqual([]);
  set = [];
  const waited = Math.max(0, one.at - now);
  now += waited;
  one.run();
  return waited;
}

test('cheap publishing happens at once, as often as requested', () => {
  for (let count = 0; count < 10; count += 1) {
    pace.soon(costing(0.01, String(count)));
    expect(next()).toBeLessThan(1);
    now += 25;
  }
  expect(published).toHaveLength(10);
  expect(set).toEqual([]);
});

test('nothing is published before the current publish has ended, and nothing twice', () => {
  const one = costing(0, 'one');
  pace.soon(one);
  pace.soon(costing(0, 'two'));
  pace.soon(one);
  expect(published).toEqual([]);
  next();
  expect(published).toEqual(['one', 'two']);
  pace.soon(one);
  next();
  expect(published).toEqual(['one', 'two', 'one']);
});

test('slow publishing happens in portions, in the order of requests', () => {
  for (const name of ['a', 'b', 'c', 'd', 'e']) pace.soon(costing(2, name));
  expect(next()).toBe(0);
  expect(published).toEqual(['a', 'b', 'c']);
  // Meanwhile one of them has more to publish: it comes after those that have published nothing.
  pace.soon(costing(2, 'a'));
  expect(next()).toBe(12);
  expect(published).toEqual(['a', 'b', 'c', 'd', 'e', 'a']);
  expect(set).toEqual([]);
});

test.each([0.01, 0.2, 1, 4, 60])(
  'publishing takes a third of the time at most, where one publish costs %d ms',
  (cost) => {
    let spent = 0;
    const many = Array.from({ length: 50 }, () => {
      const one: Gathered = {
        send() {
          now += cost;
          spent += cost;
          // There is more to publish already.
          again.push(one);
        },
      };
      return one;
    });
    const again: Gathered[] = [...many];
    while (now < 10_000) {
      for (const one of again.splice(0)) pace.soon(one);
      next();
    }
    expect(spent / now).toBeGreaterThan(0.3);
    expect(spent / now).toBeLessThan(0.34);
  },
);

test('a pause of the machine in the middle of it is not counted', () => {
  pace.soon(costing(60_000));
  next();
  pace.soon(costing(1));
  expect(next()).toBe(250);
});
