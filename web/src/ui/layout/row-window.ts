/**
 * The part of a long list that is in the document: the rows around those that are seen, at most `MOST_ROWS`. Space of the
 * average height of a row stands for the others, so that the list scrolls as if it were whole. A tall window that shows more
 * rows has more.
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

const START: At = { first: 0, count: MOST_ROWS, height: 0 };

/** `height`: of a row, in pixels; 0: not known. */
type At = { first: number; count: number; height: number };

/** Rows carry their id in `data-row`. */
export function useRowWindow<Parent extends HTMLElement>(total: number): RowWindow<Parent> {
  const list = useRef<Parent>(null);
  const isShowing = useRef(false);
  const [at, setAt] = useState(START);
  const isWhole = total <= MOST_ROWS;
  const count = isWhole ? total : at.count;
  const first = isWhole ? 0 : Math.min(at.first, lastFirst(total, count));
  useEffect(() => {
    if (isWhole) return;
    const look = (): void => {
      const rows = list.current?.querySelectorAll<HTMLElement>(':scope > [data-row]') ?? [];
      const [top, bottom] = [
        rows[0]?.getBoundingClientRect().top,
        rows[rows.length - 1]?.getBoundingClientRect().bottom,
      ];
      if (list.current === null || top === undefined || bottom === undefined || bottom === top) return;
      const height = (bottom - top) / rows.length;
      const seen = shownPart(list.current);
      const most = Math.max(MOST_ROWS, BEFORE + STEP * (1 + Math.ceil((seen.bottom - seen.top) / height / STEP)));
      const wanted = firstFor(first + Math.floor((seen.top - top) / height), total, most);
      setAt((now) =>
        wanted !== first || most !== now.count || now.height === 0 ? { first: wanted, count: most, height } : now,
      );
    };
    // A row that is shown is scrolled to next: what is seen now is not what will be.
    if (!isShowing.current) look();
    document.addEventListener('scroll', look, { capture: true, passive: true });
    addEventListener('resize', look);
    return () => {
      document.removeEventListener('scroll', look, { capture: true });
      removeEventListener('resize', look);
    };
  }, [first, isWhole, total]);
  const show = useCallback(
    (index: number): void => {
      if (index >= first && index < first + count) return;
      isShowing.current = true;
      flushSync(() => setAt((now) => ({ ...now, first: firstFor(index, total, count) })));
      isShowing.current = false;
    },
    [first, count, total],
  );
  const after = Math.max(0, total - count - first);
  return { list, part: { first, count, before: first * at.height, after: after * at.height }, show };
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
