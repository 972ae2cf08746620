/**
 * Keys of the list of jobs: `j` and `k` move between the jobs, `x` selects the focused one, `r` retries and `c` cancels the
 * selected jobs, or the focused one. Both ask first.
 */
import { useCallback, useEffect, useRef } from 'react';
import { usePageKeys } from '../../ui/forms/page-keys.ts';

type Act = (does: 'cancel' | 'retry', id: string) => void;

const STEPS: Readonly<Record<string, 1 | -1>> = { j: 1, k: -1 };
const ACTS: Readonly<Record<string, 'cancel' | 'retry'>> = { c: 'cancel', r: 'retry' };

/** `onAct`: for the focused job if none is selected. `bar`: label of the region with the buttons for the selected ones. */
export function useRowKeys(bar: string, onAct: Act): void {
  const act = useRef(onAct);
  useEffect(() => {
    act.current = onAct;
  }, [onAct]);
  usePageKeys(
    useCallback(
      (event: KeyboardEvent): boolean => {
        const row = document.activeElement?.closest<HTMLElement>('main [data-row]') ?? null;
        const step = STEPS[event.key];
        if (step !== undefined) return move(row, step);
        if (event.repeat) return false;
        if (event.key === 'x') return toggle(row);
        const does = ACTS[event.key];
        return does !== undefined && actOn(row, does, bar, act.current);
      },
      [bar],
    ),
  );
}

/** To the next row; without one to the first. */
function move(from: HTMLElement | null, step: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')];
  const next = from === null ? rows[0] : rows[rows.indexOf(from) + step];
  const link = next?.querySelector<HTMLElement>('a');
  if (next === undefined || link === null || link === undefined) return false;
  link.focus({ preventScroll: true });
  next.scrollIntoView({ block: 'nearest' });
  return true;
}

function toggle(row: HTMLElement | null): boolean {
  const box = row?.querySelector<HTMLElement>('[role="checkbox"]') ?? null;
  box?.click();
  return box !== null;
}

function actOn(row: HTMLElement | null, does: 'cancel' | 'retry', bar: string, onAct: Act): boolean {
  const region = [...document.querySelectorAll('[role="region"]')].find((one) => one.ariaLabel === bar);
  if (region !== undefined) {
    const button = region.querySelector<HTMLButtonElement>(
      `button[aria-keyshortcuts="${does === 'retry' ? 'r' : 'c'}"]`,
    );
    button?.click();
    return button !== null;
  }
  const id = row?.dataset['row'];
  if (id === undefined) return false;
  onAct(does, id);
  return true;
}
