/**
 * The part of a long list that is in the document: the rows around those that are seen, at most `MOST_ROWS`. Space of the
 * average height of a row stands for the others, so that the list scrolls as if it were whole. There are more where a window
 * shows more, or where rows differ much in height.
 */
import { useCallback, useEffect, useRef, useState, type RefObject } from 'react';
import { flushSync } from 'react-dom';

/** Rows in the document. */
export const MOST_ROWS = 60;
/** Rows kept before the first one that is seen. */
const BEFORE = 20;
/** The part begins at a multiple of this, so that rows keep their column where a list has two. */
const STEP = 10;

/** `first`: index of the first row in the document. `before`, `after`: height of the rows that are left out, in pixels. */
export type Part = { first: number; count: number; before: number; after: number };

export type RowWindow<Parent extends HTMLElement> = {
  /** The element whose children are the rows. */
  list: RefObject<Parent | null>;
  part: Part;
  /** Puts the row with this index into the document, if it is not, at once. The caller scrolls to it. */
  show: (index: number) => void;
};

/** `height`: of a row on average, as it was measured first, in pixels; 0: not measured. */
export type At = { first: number; count: number; height: number };

const START: At = { first: 0, count: MOST_ROWS, height: 0 };

/** Rows carry their id in `data-row`. */
export function useRowWindow<Parent extends HTMLElement>(total: number): RowWindow<Parent> {
  const list = useRef<Parent>(null);
  const lastTotal = useRef<number>(null);
  const [at, setAt] = useState(START);
  const isWhole = total <= MOST_ROWS;
  const count = isWhole ? total : at.count;
  const first = isWhole ? 0 : Math.min(at.first, lastFirst(total, count));
  useEffect(() => {
    if (isWhole) return;
    const change = (next: typeof nextPart): void => {
      const measured = measure(list.current);
      if (measured !== null) setAt((now) => changed(now, next({ ...now, first, count }, measured, total)));
    };
    const look = (): void => change(nextPart);
    // After what follows the change: a row that was put into the document is scrolled to.
    const isOwnChange = lastTotal.current === total;
    lastTotal.current = total;
    const frame = requestAnimationFrame(() => change(isOwnChange ? grownPart : nextPart));
    document.addEventListener('scroll', look, { capture: true, passive: true });
    addEventListener('resize', look);
    return () => {
      cancelAnimationFrame(frame);
      document.removeEventListener('scroll', look, { capture: true });
      removeEventListener('resize', look);
    };
  }, [first, count, isWhole, total]);
  const show = useCallback(
    (index: number): void => {
      if (index >= first && index < first + count) return;
      flushSync(() => setAt((now) => ({ ...now, first: firstFor(index, total, count) })));
    },
    [first, count, total],
  );
  const after = Math.max(0, total - count - first);
  return { list, part: { first, count, before: first * at.height, after: after * at.height }, show };
}

/** In pixels of the window: the rows in the document, and where the list can be seen. */
export type Measured = { rows: number; top: number; bottom: number; seenTop: number; seenBottom: number };

function measure(list: HTMLElement | null): Measured | null {
  const rows = list?.querySelectorAll<HTMLElement>(':scope > [data-row]') ?? [];
  const [top, bottom] = [rows[0]?.getBoundingClientRect().top, rows[rows.length - 1]?.getBoundingClientRect().bottom];
  if (list === null || top === undefined || bottom === undefined || bottom <= top) return null;
  const seen = shownPart(list);
  return { rows: rows.length, top, bottom, seenTop: seen.top, seenBottom: seen.bottom };
}

/** `now` where nothing changed, so that nothing is drawn again. */
function changed(now: At, next: At): At {
  const isSame = next.first === now.first && next.count === now.count && next.height === now.height;
  return isSame ? now : next;
}

/** The part that should be in the document when the list was scrolled: the present one while it is well around what is seen. */
export function nextPart({ first, count, height: known }: At, measured: Measured, total: number): At {
  const { rows, top, bottom, seenTop, seenBottom } = measured;
  const average = (bottom - top) / rows;
  const height = known === 0 ? average : known;
  const shown = Math.ceil((seenBottom - seenTop) / average / STEP) * STEP;
  const most = Math.max(MOST_ROWS, BEFORE + shown + STEP);
  const hasAbove = first === 0 || seenTop >= top + STEP * average;
  const hasBelow = first + rows >= total || seenBottom <= bottom - STEP * average;
  if (hasAbove && hasBelow) return { first, count: Math.max(count, most), height };
  return { first: firstFor(seenRow(first, measured, height), total, most), count: most, height };
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

/** The index of the first row that is seen. */
function seenRow(first: number, { rows, top, bottom, seenTop }: Measured, height: number): number {
  if (seenTop < top) return first + Math.floor((seenTop - top) / height);
  if (seenTop >= bottom) return first + rows + Math.floor((seenTop - bottom) / height);
  return first + Math.floor(((seenTop - top) / (bottom - top)) * rows);
}

/** Of the part in which the row with this index is the first that is seen. */
function firstFor(seen: number, total: number, count: number): number {
  const wanted = Math.floor((seen - BEFORE) / STEP) * STEP;
  return Math.max(0, Math.min(wanted, lastFirst(total, count)));
}

/** Of the part at the end of the list. */
function lastFirst(total: number, count: number): number {
  return Math.max(0, Math.ceil((total - count) / STEP) * STEP);
}

/** Where a list can be seen, in the window: what it scrolls in has an edge above and below. */
function shownPart(list: HTMLElement): { top: number; bottom: number } {
  let [top, bottom] = [0, innerHeight];
  for (let around: HTMLElement | null = list; around !== null; around = around.parentElement) {
    if (getComputedStyle(around).overflowY === 'visible') continue;
    const box = around.getBoundingClientRect();
    [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
  }
  return { top, bottom: Math.max(top, bottom) };
}
