// Money: prices and costs are whole numbers, and sums are exact.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { costOf, type Price } from '../../../src/core/money/cost.ts';
import { MOST_PRICE, formatDollars, parseDollars, parsePrice } from '../../../src/core/money/money.ts';
import {
  NO_USAGE,
  addUsage,
  cacheHitRatio,
  toPublicUsage,
  unpriced,
  type Tokens,
} from '../../../src/core/money/usage.ts';

const MOST_TOKENS = 2 ** 31 - 1;
const MOST_PICOS = MOST_PRICE * 1_000_000;

function tokens(over: Partial<Tokens> = {}): Tokens {
  return { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, ...over };
}

function price(input: number, output = 0, cacheRead = 0, cacheWrite = 0): Price {
  const [i, o, r, w] = [input, output, cacheRead, cacheWrite].map((dollars) => {
    const picos = parsePrice(dollars);
    if (picos === null) throw new Error(`no price: ${dollars}`);
    return picos;
  });
  return { input: i ?? 0, output: o ?? 0, cacheRead: r ?? 0, cacheWrite: w ?? 0 };
}

const count = fc.integer({ min: 0, max: MOST_TOKENS });
const anyTokens: fc.Arbitrary<Tokens> = fc.record({
  input_tokens: count,
  output_tokens: count,
  cache_read_tokens: count,
  cache_write_tokens: count,
});
const picos = fc.integer({ min: 0, max: MOST_PICOS });
const anyPrice: fc.Arbitrary<Price> = fc.record({
  input: picos,
  output: picos,
  cacheRead: picos,
  cacheWrite: picos,
});

describe('a call', () => {
  test('costs each kind of token at its own price', () => {
    const spent = tokens({
      input_tokens: 1_000_000,
      output_tokens: 10_000,
      cache_read_tokens: 200_000,
      cache_write_tokens: 4_000,
    });
    // 3 + 0.15 + 0.06 + 0.015 dollars.
    expect(costOf(spent, price(3, 15, 0.3, 3.75))).toBe(3_225_000_000);
    expect(costOf(tokens(), price(3, 15, 0.3, 3.75))).toBe(0);
    expect(costOf(spent, price(0))).toBe(0);
  });

  test('is rounded once, to a billionth of a dollar, half up', () => {
    expect(costOf(tokens({ input_tokens: 1 }), price(0.0005))).toBe(1);
    expect(costOf(tokens({ input_tokens: 1 }), price(0.000499))).toBe(0);
    // Each kind alone would be rounded to 0.
    expect(costOf(tokens({ input_tokens: 1, output_tokens: 1 }), price(0.0004, 0.0004))).toBe(1);
    expect(costOf(tokens({ cache_read_tokens: 3 }), price(0, 0, 0.0375))).toBe(113);
  });

  test('is exact to half a billionth, and never above the largest safe number', () => {
    fc.assert(
      fc.property(anyTokens, anyPrice, (spent, at) => {
        const cost = costOf(spent, at);
        const exact =
          BigInt(spent.input_tokens) * BigInt(at.input) +
          BigInt(spent.output_tokens) * BigInt(at.output) +
          BigInt(spent.cache_read_tokens) * BigInt(at.cacheRead) +
          BigInt(spent.cache_write_tokens) * BigInt(at.cacheWrite);
        const off = BigInt(cost) * 1_000n - exact;
        expect(Number.isSafeInteger(cost)).toBe(true);
        expect(off > -500n && off <= 500n).toBe(true);
      }),
    );
  });
});

describe('a price', () => {
  test('is read as the written decimal, whatever its binary form', () => {
    expect([0, 3, 0.3, 0.1 + 0.2, 3.75, 0.0375, 0.000001, 999.999999].map(parsePrice)).toEqual([
      0,
      3_000_000,
      300_000,
      null,
      3_750_000,
      37_500,
      1,
      999_999_999,
    ]);
  });

  test('is invalid where it is negative, infinite, too fine or too large', () => {
    for (const wrong of [-1, -0.1, NaN, Infinity, -Infinity, 1e-7, 0.0000001, 0.1234567, 1_000.01, 1e21])
      expect(parsePrice(wrong)).toBeNull();
  });
});

describe('dollars', () => {
  test('have at least two decimals, and as many as needed', () => {
    const received = [0, 1, 10, 345_000, 500_000_000, 12_500_000_000, 1_000_000_000, 123_456_789_012];
    expect(received.map(formatDollars)).toEqual([
      '0.00',
      '0.000000001',
      '0.00000001',
      '0.000345',
      '0.50',
      '12.50',
      '1.00',
      '123.456789012',
    ]);
  });

  test('that were formatted parse back to the same amount', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (nanos) => {
        expect(parseDollars(formatDollars(nanos))).toBe(nanos);
      }),
    );
  });

  test('that are not decimal, too fine, or too large to be summed are invalid', () => {
    for (const wrong of ['', '.5', '5.', '-1', '+1', '1e3', '1,5', ' 1', '1.0000000001', '0x1', '9007199.254740992'])
      expect(parseDollars(wrong)).toBeNull();
    expect(parseDollars('9007199.254740991')).toBe(Number.MAX_SAFE_INTEGER);
    expect(parseDollars('3')).toBe(3_000_000_000);
  });
});

describe('a sum', () => {
  const used = (cost_nanos: number | null) => ({ ...NO_USAGE, cost_nanos });
  const sum = (costs: readonly (number | null)[]) => costs.map(used).reduce(addUsage, NO_USAGE).cost_nanos;

  test('covers the known costs, and is unknown where none is known', () => {
    expect(sum([])).toBeNull();
    expect(sum([null, null])).toBeNull();
    expect(sum([null, 5, null, 7])).toBe(12);
    expect(sum([0, null])).toBe(0);
  });

  test('is exact, in any order', () => {
    // As floats: 0.30000000000000004 dollars.
    expect(toPublicUsage(addUsage(used(100_000_000), used(200_000_000))).cost).toBe('0.30');
    fc.assert(
      fc.property(fc.array(fc.option(fc.integer({ min: 0, max: 2 ** 40 })), { maxLength: 50 }), (costs) => {
        const known = costs.filter((cost) => cost !== null);
        const exact = known.reduce((total, cost) => total + BigInt(cost), 0n);
        expect(sum(costs)).toBe(known.length === 0 ? null : Number(exact));
        expect(sum([...costs].reverse())).toBe(sum(costs));
      }),
    );
  });

  test('is shown as a decimal, or as null', () => {
    const spent = tokens({ input_tokens: 7 });
    const received = { ...spent, cache_hit_ratio: 0 };
    expect(toPublicUsage(unpriced(spent))).toEqual({ ...received, cost: null });
    expect(toPublicUsage({ ...spent, cost_nanos: 21_000 })).toEqual({ ...received, cost: '0.000021' });
  });

  test('includes the share of the prompts served from caches, and null where there were no prompts', () => {
    expect(cacheHitRatio(tokens({ input_tokens: 1, cache_read_tokens: 2 }))).toBe(0.6667);
    expect(cacheHitRatio(tokens({ cache_read_tokens: 9, cache_write_tokens: 1 }))).toBe(0.9);
    expect(cacheHitRatio(tokens({ cache_read_tokens: 5 }))).toBe(1);
    expect(cacheHitRatio(tokens({ output_tokens: 5 }))).toBeNull();
  });
});
