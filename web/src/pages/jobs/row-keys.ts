/**
 * Keys of the list of jobs: `j` and `k` move between the jobs, `x` selects the focused one, `r` retries and `c` cancels the
 * selected jobs, or the focused one. Both ask first.
 */
import { useCallback, useEffect, useRef } from 'react';
import { usePageKeys } from '../../ui/forms/page-keys.ts';

/** `id`: of the focused job; null: none has the focus. Returns whether there is something to do. */
type Act = (does: 'cancel' | 'retry', id: string | null) => boolean;

const STEPS: Readonly<Record<string, 1 | -1>> = { j: 1, k: -1 };
const ACTS: Readonly<Record<string, 'cancel' | 'retry'>> = { c: 'cancel', r: 'retry' };

export function useRowKeys(onAct: Act): void {
  const act = useRef(onAct);
  useEffect(() => {
    act.current = onAct;
  }, [onAct]);
  usePageKeys(
    useCallback((event: KeyboardEvent): boolean => {
      const row = document.activeElement?.closest<HTMLElement>('main [data-row]') ?? null;
      const step = STEPS[event.key];
      if (step !== undefined) return move(row, step);
      if (event.repeat) return false;
      if (event.key === 'x') return toggle(row);
      const does = ACTS[event.key];
      return does !== undefined && act.current(does, row?.dataset['row'] ?? null);
    }, []),
  );
}

/** To the next row; without one to the first that is seen whole. */
function move(from: HTMLElement | null, step: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')];
  const next = from === null ? firstSeen(rows) : rows[rows.indexOf(from) + step];
  const link = next?.querySelector<HTMLElement>('a');
  if (next === undefined || link === null || link === undefined) return false;
  link.focus({ preventScroll: true });
  next.scrollIntoView({ block: 'nearest' });
  return true;
}

/** The document has more rows of a long list than are seen. */
function firstSeen(rows: readonly HTMLElement[]): HTMLElement | undefined {
  return rows.find((row) => row.getBoundingClientRect().top >= 0) ?? rows.at(-1);
}

function toggle(row: HTMLElement | null): boolean {
  const box = row?.querySelector<HTMLElement>('[role="checkbox"]') ?? null;
  box?.click();
  return box !== null;
}
