// Which rows of a long list are in the document, for lists whose rows differ in height.
import { expect, test } from 'vitest';
import { MOST_ROWS, START, grownPart, nextPart, type At, type Measured } from '../../web/src/ui/state/row-part.ts';

const VIEW = 700;

const sum = (heights: readonly number[]): number => heights.reduce((all, one) => all + one, 0);

/** The part as it is drawn, scrolled so far: the space before and after it stands for the other rows. */
function drawn(heights: readonly number[], { first, count, height }: At, scrolled: number): Measured {
  const rows = heights.slice(first, first + count);
  const top = first * height - scrolled;
  const ends = rows.map((_, at) => top + sum(rows.slice(0, at + 1)));
  const above = ends.filter((end) => end <= 0).length;
  const shown = ends.filter((end, at) => end > 0 && end - (rows[at] ?? 0) < VIEW).length;
  return { rows: rows.length, top, bottom: top + sum(rows), seenTop: 0, seenBottom: VIEW, above, shown };
}

/** The part after the list was scrolled there, and after its own changes. Null: it does not come to rest. */
function settle(heights: readonly number[], from: At, scrolled: number): At | null {
  let at = nextPart(from, drawn(heights, from, scrolled), heights.length);
  for (let round = 0; round < heights.length; round += 1) {
    const next = grownPart(at, drawn(heights, at, scrolled), heights.length);
    if (next.first === at.first && next.count === at.count && next.height === at.height) return at;
    at = next;
  }
  return null;
}

const of = (total: number, heightOf: (at: number) => number): number[] =>
  Array.from({ length: total }, (_, at) => heightOf(at));

test.each([
  { rows: 'of one height', heights: of(300, () => 50) },
  { rows: 'tall, then low', heights: of(300, (at) => (at < 45 ? 300 : 30)) },
  { rows: 'low, then tall', heights: of(300, (at) => (at < 45 ? 30 : 300)) },
  { rows: 'of which some are very tall', heights: of(300, (at) => (at % 20 === 0 ? 2_400 : 40)) },
])('rows $rows: the part comes to rest wherever the list is scrolled to', ({ heights }) => {
  let at = settle(heights, START, 0) ?? START;
  expect(at).toEqual({ ...START, height: sum(heights.slice(0, MOST_ROWS)) / MOST_ROWS });
  const far = heights.length * at.height;
  for (const step of [13, -13, 997, -997])
    for (let scrolled = step > 0 ? 0 : far; scrolled >= 0 && scrolled <= far; scrolled += step) {
      const next = settle(heights, at, scrolled);
      expect(next, `at ${scrolled} from ${at.first}`).not.toBeNull();
      at = next ?? at;
      const { top, bottom, rows } = drawn(heights, at, scrolled);
      expect(top <= 0 || at.first === 0, `above at ${scrolled}`).toBe(true);
      expect(bottom >= VIEW || at.first + rows === heights.length, `below at ${scrolled}`).toBe(true);
    }
});

test('rows of one height: what is seen is always in the document', () => {
  const heights = of(300, () => 50);
  let at = START;
  for (let scrolled = 0; scrolled <= 300 * 50 - VIEW; scrolled += 31) {
    at = settle(heights, at, scrolled) ?? at;
    const { top, bottom } = drawn(heights, at, scrolled);
    expect([top <= 0, bottom >= VIEW, at.first % 10, at.count]).toEqual([true, true, 0, MOST_ROWS]);
  }
});

test('a part that grew is as small as before after the next scroll', () => {
  const heights = of(300, () => 50);
  const grown = { first: 0, count: 300, height: 50 };
  expect(settle(heights, grown, 5_000)).toEqual({ first: 80, count: MOST_ROWS, height: 50 });
});

test('a window that shows more rows has more in the document', () => {
  const low = of(300, () => 10);
  const at = settle(low, START, 1_500) ?? START;
  expect(at.count).toBeGreaterThan(VIEW / 10);
  const { top, bottom } = drawn(low, at, 1_500);
  expect([top <= 0, bottom >= VIEW]).toEqual([true, true]);
});
