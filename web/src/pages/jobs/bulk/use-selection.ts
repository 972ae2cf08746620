/** Selection of shown jobs: one that leaves the list is no longer selected. With Shift held, a click selects the range from the last changed job. */
import type { Job } from 'nightshift/client';
import { useState } from 'react';

export type Selection = {
  /** Selected jobs that are shown. */
  jobs: readonly Job[];
  has(id: string): boolean;
  all: boolean | 'some';
  /** `range`: also changes the jobs between this one and the last changed one. */
  set: (id: string, selected: boolean, range: boolean) => void;
  setAll: (selected: boolean) => void;
  clear: () => void;
};

/** `list`: names the list; in another one nothing is selected. */
export function useSelection(jobs: readonly Job[], list: string): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState<string | null>(null);
  const [of, setOf] = useState(list);
  const clear = (): void => {
    setChosen(new Set());
    setLast(null);
  };
  if (of !== list) {
    setOf(list);
    clear();
  }
  const shown = jobs.map(({ id }) => id);
  const selected = jobs.filter(({ id }) => chosen.has(id));
  if (selected.length < chosen.size) setChosen(new Set(selected.map(({ id }) => id)));
  const change = (changed: readonly string[], isSelected: boolean): void => {
    const next = new Set(selected.map(({ id }) => id));
    for (const id of changed)
      if (isSelected) next.add(id);
      else next.delete(id);
    setChosen(next);
  };
  return {
    jobs: selected,
    has: (id) => chosen.has(id),
    all: selected.length === 0 ? false : selected.length === shown.length || 'some',
    set(id, isSelected, range) {
      change(range && last !== null ? between(shown, last, id) : [id], isSelected);
      setLast(id);
    },
    setAll: (isSelected) => change(shown, isSelected),
    clear,
  };
}

/** Inclusive range. If one end is no longer shown, only `to`. */
function between(ids: readonly string[], from: string, to: string): string[] {
  const [a, b] = [ids.indexOf(from), ids.indexOf(to)];
  if (a === -1 || b === -1) return [to];
  return ids.slice(Math.min(a, b), Math.max(a, b) + 1);
}
