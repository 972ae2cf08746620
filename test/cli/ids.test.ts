import { describe, expect, test } from 'vitest';
import { ids } from '../../src/platform/ids.ts';
import { madeAt, parseId, type JobId } from '../../src/core/ids.ts';

describe('ids in production', () => {
  test('are UUIDs of version 7 with the time of their creation', () => {
    const before = Date.now();
    const id = ids.next<JobId>();
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(parseId<JobId>(id)).toBe(id);
    expect(madeAt(id)).toBeGreaterThanOrEqual(before);
    expect(madeAt(id)).toBeLessThanOrEqual(Date.now() + 1);
  });

  test('sort by their creation', () => {
    const made = Array.from({ length: 5_000 }, () => ids.next<JobId>());
    expect(made.toSorted()).toEqual(made);
    expect(new Set(made).size).toBe(made.length);
  });

  test('have new randomness each', () => {
    const made = Array.from({ length: 600 }, () => ids.next<JobId>().slice(-10));
    for (const [index, random] of made.entries()) {
      expect(made[index + 1]).not.toBe(random);
      expect(made[index + 256]).not.toBe(random);
    }
  });
});
