// Quantiles of histograms: between the bounds of a bucket, over several histograms together.
import { array, assert, integer, property } from 'fast-check';
import { expect, test } from 'vitest';
import { quantilesOf, type Bucket } from '../../src/core/histogram.ts';

/** Buckets as prom-client counts the values. */
function histogram(bounds: readonly number[], values: readonly number[]): Bucket[] {
  return [...bounds, Infinity].map((bound) => ({ bound, count: values.filter((value) => value <= bound).length }));
}

test('no values have no quantiles', () => {
  expect(quantilesOf([])).toBeNull();
  expect(quantilesOf([histogram([1, 2], [])])).toBeNull();
});

test('values are taken as evenly spread over their bucket', () => {
  expect(quantilesOf([histogram([10, 20], [12, 13, 14, 15])])).toEqual({ p50: 15, p95: 19.5 });
});

test('values of several histograms count together', () => {
  const [quick, slow] = [Array.from({ length: 90 }, () => 1), Array.from({ length: 10 }, () => 15)];
  expect(quantilesOf([histogram([10, 20], quick), histogram([10, 20], slow)])).toEqual({
    p50: (10 * 50) / 90,
    p95: 15,
  });
});

test('above the last bound it is the last bound', () => {
  expect(quantilesOf([histogram([10], [99])])).toEqual({ p50: 10, p95: 10 });
});

test('counts that fall, and bounds in any order, are no fault', () => {
  const odd: Bucket[] = [
    { bound: Infinity, count: 3 },
    { bound: 20, count: 1 },
    { bound: 10, count: 4 },
  ];
  expect(quantilesOf([odd])).toEqual({ p50: 5, p95: 9.5 });
});

test('a quantile is in the bucket of the value that it stands for', () => {
  const bounds = [1, 2.5, 5, 10, 25, 100];
  const values = array(integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 50 });
  assert(
    property(array(values, { minLength: 1, maxLength: 4 }), (parts) => {
      const found = quantilesOf(parts.map((part) => histogram(bounds, part)));
      const sorted = parts.flat().sort((a, b) => a - b);
      for (const [share, value] of [
        [0.5, found?.p50],
        [0.95, found?.p95],
      ] as const) {
        const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
        const bucket = bounds.findIndex((bound) => exact <= bound);
        expect(value).toBeGreaterThanOrEqual(bounds[bucket - 1] ?? 0);
        expect(value).toBeLessThanOrEqual(bounds[bucket] ?? 0);
      }
    }),
  );
});
