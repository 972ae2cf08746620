/**
 * The part of a long list that is in the document: the rows around those that are seen, at most `MOST_ROWS`. Space of the
 * average height of a row stands for the others, so that the list scrolls as if it were whole.
 */
import { useEffect, useState } from 'react';

/** Rows in the document. */
export const MOST_ROWS = 60;
/** Rows kept before the first one that is seen. */
const BEFORE = 20;
/** The part moves once it is off by so many rows. */
const STEP = 10;

/** `first`: index of its first row. `before`, `after`: height of the rows that are left out, in pixels. */
export type RowWindow = { first: number; before: number; after: number };

const WHOLE = { first: 0, height: 0 };

/** Rows carry their id in `data-row`. */
export function useRowWindow(total: number): RowWindow {
  const [at, setAt] = useState(WHOLE);
  const isWhole = total <= MOST_ROWS;
  const first = isWhole ? 0 : Math.min(at.first, total - MOST_ROWS);
  useEffect(() => {
    if (isWhole) return;
    const look = (): void => {
      const rows = document.querySelectorAll<HTMLElement>('main [data-row]');
      const [top, bottom] = [
        rows[0]?.getBoundingClientRect().top,
        rows[rows.length - 1]?.getBoundingClientRect().bottom,
      ];
      if (top === undefined || bottom === undefined) return;
      const height = (bottom - top) / rows.length;
      const wanted = clamp(first + Math.floor(-top / height) - BEFORE, total - MOST_ROWS);
      const isAtEnd = wanted === 0 || wanted === total - MOST_ROWS;
      if (wanted !== first && (isAtEnd || Math.abs(wanted - first) >= STEP)) setAt({ first: wanted, height });
      else setAt((now) => (now.height === 0 ? { ...now, height } : now));
    };
    look();
    document.addEventListener('scroll', look, { capture: true, passive: true });
    addEventListener('resize', look);
    return () => {
      document.removeEventListener('scroll', look, { capture: true });
      removeEventListener('resize', look);
    };
  }, [first, isWhole, total]);
  if (isWhole) return { first: 0, before: 0, after: 0 };
  return { first, before: first * at.height, after: (total - MOST_ROWS - first) * at.height };
}

function clamp(value: number, most: number): number {
  return Math.max(0, Math.min(value, most));
}
