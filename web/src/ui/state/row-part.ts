/**
 * Which rows of a long list are in the document, from where the list is scrolled to and how high its rows are. What is drawn and
 * measured is in `row-window.ts`.
 */

/** Rows in the document. */
export const MOST_ROWS = 60;
/** Rows kept before the first one that is seen. */
const BEFORE = 20;
/** The part begins at a multiple of this, so that rows keep their column where a list has two. */
const STEP = 10;

/** `height`: of a row on average, as it was measured first, in pixels; 0: not measured. */
export type At = { first: number; count: number; height: number };

export const START: At = { first: 0, count: MOST_ROWS, height: 0 };

/**
 * In pixels of the window: the rows in the document, and where the list can be seen. `above`: of these rows, so many end before
 * what is seen; `shown`: so many are seen.
 */
export type Measured = {
  rows: number;
  top: number;
  bottom: number;
  seenTop: number;
  seenBottom: number;
  above: number;
  shown: number;
};

/**
 * The part that should be in the document when the list was scrolled: the present one while it is well around what is seen,
 * and not larger than it must be.
 */
export function nextPart({ first, count, height: known }: At, measured: Measured, total: number): At {
  const { rows, top, bottom, seenTop, seenBottom, above, shown } = measured;
  const average = (bottom - top) / rows;
  const height = known === 0 ? average : known;
  const most = Math.max(MOST_ROWS, BEFORE + Math.ceil(shown / STEP) * STEP + STEP);
  const hasAbove = first === 0 || seenTop >= top + STEP * average;
  const hasBelow = first + rows >= total || seenBottom <= bottom - STEP * average;
  if (hasAbove && hasBelow && count <= most) return { first, count: most, height };
  if (seenTop < top)
    return { first: firstFor(first + Math.floor((seenTop - top) / height), total, most), count: most, height };
  const beyond = seenTop < bottom ? 0 : Math.floor((seenTop - bottom) / height);
  return { first: firstFor(first + above + beyond, total, most), count: most, height };
}

/**
 * The part after its own change: it only grows, until all that is seen lies in it. Where rows differ much in height, two parts
 * could ask for each other for ever.
 */
export function grownPart({ first, count, height: known }: At, measured: Measured, total: number): At {
  const { rows, top, bottom, seenTop, seenBottom } = measured;
  const height = known === 0 ? (bottom - top) / rows : known;
  const above = seenTop < top ? Math.min(first, STEP) : 0;
  const below = seenBottom > bottom && first + rows < total ? STEP : 0;
  return { first: first - above, count: count + above + below, height };
}

/** Of the part in which the row with this index is the first that is seen. */
export function firstFor(seen: number, total: number, count: number): number {
  const wanted = Math.floor((seen - BEFORE) / STEP) * STEP;
  return Math.max(0, Math.min(wanted, lastFirst(total, count)));
}

/** Of the part at the end of the list. */
export function lastFirst(total: number, count: number): number {
  return Math.max(0, Math.ceil((total - count) / STEP) * STEP);
}
