/**
 * The part of a long list that is in the document: the rows around those that are seen, at most `MOST_ROWS`. Space of the
 * average height of a row stands for the others, so that the list scrolls as if it were whole. There are more where a window
 * shows more, or where rows differ much in height.
 */
import { useCallback, useEffect, useRef, useState, type RefObject } from 'react';
import { flushSync } from 'react-dom';
import {
  MOST_ROWS,
  START,
  firstFor,
  grownPart,
  lastFirst,
  nextPart,
  type At,
  type Measured,
} from '../state/row-part.ts';

/** `first`: index of the first row in the document. `before`, `after`: height of the rows that are left out, in pixels. */
export type Part = { first: number; count: number; before: number; after: number };

export type RowWindow<Parent extends HTMLElement> = {
  /** The element whose children are the rows. */
  list: RefObject<Parent | null>;
  part: Part;
  /** Puts the row with this index into the document, if it is not, at once. The caller scrolls to it. */
  show: (index: number) => void;
};

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

function measure(list: HTMLElement | null): Measured | null {
  const rows = list?.querySelectorAll<HTMLElement>(':scope > [data-row]') ?? [];
  const boxes = [...rows].map((row) => row.getBoundingClientRect());
  const [top, bottom] = [boxes[0]?.top, boxes.at(-1)?.bottom];
  if (list === null || top === undefined || bottom === undefined || bottom <= top) return null;
  const seen = shownPart(list);
  const above = boxes.filter((box) => box.bottom <= seen.top).length;
  const shown = boxes.filter((box) => box.bottom > seen.top && box.top < seen.bottom).length;
  return { rows: boxes.length, top, bottom, seenTop: seen.top, seenBottom: seen.bottom, above, shown };
}

/** `now` where nothing changed, so that nothing is drawn again. */
function changed(now: At, next: At): At {
  const isSame = next.first === now.first && next.count === now.count && next.height === now.height;
  return isSame ? now : next;
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
