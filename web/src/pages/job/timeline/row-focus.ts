/** The focus in the rows of the chart, of which only some are in the DOM. */
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import type { ShownRow } from './rows/tree.ts';

/** Frames in which a row should appear. */
const MOST_FRAMES = 30;

type RowFocus = {
  press: (event: KeyboardEvent) => void;
  /** A row got the focus. */
  note: (event: { target: EventTarget }) => void;
  /** Rows that stay in the DOM. */
  kept: number[];
  /** The row that the Tab key reaches. */
  isCurrent: (index: number) => boolean;
};

/** Arrow keys move between rows, which may not be in the DOM yet. */
export function useRowFocus(shown: readonly ShownRow[], scroller: { current: HTMLElement | null }): RowFocus {
  const [currentKey, setCurrentKey] = useState<string | null>(null);
  const wanted = useRef(false);
  const found = shown.findIndex(({ key }) => key === currentKey);
  const current = Math.max(0, found);
  useEffect(() => {
    if (!wanted.current) return;
    wanted.current = false;
    focusSoon(() => scroller.current?.querySelector<HTMLElement>(`[data-row="${current}"] button`) ?? null);
  }, [current, scroller]);
  return {
    press(event) {
      // Texts that scroll, and dialogs of a row, keep their keys.
      if (!isOnControl(event)) return;
      const next = rowAfter(event.key, current, shown.length);
      const key = next === null ? undefined : shown[next]?.key;
      if (next === null || key === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      if (next === current) return;
      wanted.current = true;
      setCurrentKey(key);
    },
    note({ target }) {
      const row = target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null;
      const key = row === null ? undefined : shown[Number(row.dataset['row'])]?.key;
      if (key !== undefined) setCurrentKey(key);
    },
    kept: [current],
    isCurrent: (index) => index === current,
  };
}

/** Whether a button or a link below the element has the focus. React reports keys of dialogs, too. */
export function isOnControl({ target, currentTarget }: KeyboardEvent): boolean {
  return target instanceof Element && target.matches('button, a') && currentTarget.contains(target);
}

/** A row that was not in the DOM cannot get the focus before it is measured. */
function focusSoon(find: () => HTMLElement | null, frames = MOST_FRAMES): void {
  const element = find();
  element?.focus({ preventScroll: true });
  if (element !== null && document.activeElement === element) element.scrollIntoView({ block: 'nearest' });
  else if (frames > 0) requestAnimationFrame(() => focusSoon(find, frames - 1));
}

function rowAfter(key: string, current: number, count: number): number | null {
  switch (key) {
    case 'ArrowDown':
      return Math.min(count - 1, current + 1);
    case 'ArrowUp':
      return Math.max(0, current - 1);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}
