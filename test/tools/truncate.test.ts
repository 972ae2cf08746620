import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { headOf, truncate } from '../../src/tools/run/truncate.ts';

/** Any text, broken text included: all code units, surrogates often. */
const text = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      fc.constantFrom('\0', '\ud83d', '\ude00', '😀', 'a'),
    ),
  )
  .map((units) => units.join(''));
const limit = fc.integer({ min: 0, max: 60 });

describe('cutting text', () => {
  test('leaves short text unchanged, broken or not', () => {
    fc.assert(fc.property(text, (whole) => truncate(whole, whole.length) === whole));
  });

  test('keeps the longest head within the limit that splits no pair', () => {
    fc.assert(
      fc.property(text, limit, (whole, most) => {
        const head = headOf(whole, most);
        expect(whole.startsWith(head)).toBe(true);
        expect(head.length).toBeLessThanOrEqual(most);
        expect(head.length).toBeGreaterThanOrEqual(Math.min(most - 1, whole.length));
        expect(pairsIn(head) + pairsIn(whole.slice(head.length))).toBe(pairsIn(whole));
      }),
    );
  });

  test('states how much is missing', () => {
    fc.assert(
      fc.property(text, limit, (whole, most) => {
        const cut = truncate(whole, most);
        if (whole.length <= most) return;
        const head = headOf(whole, most);
        expect(cut).toBe(
          `${head}\n[Truncated: ${whole.length - head.length} of ${whole.length} characters were omitted.]`,
        );
      }),
    );
  });

  test('steps back before a pair, and only before a pair', () => {
    expect(headOf('a😀b', 2)).toBe('a');
    expect(headOf('a😀b', 3)).toBe('a😀');
    expect(headOf('a\ud83db', 2)).toBe('a\ud83d');
    expect(headOf('😀', 0)).toBe('');
  });
});

function pairsIn(whole: string): number {
  return whole.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0;
}
