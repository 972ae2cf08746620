/** Selection of unfinished jobs. With Shift held, a click selects the range from the last changed job. */
import { isFinished, type Job } from 'nightshift/client';
import { useState } from 'react';

export type Selection = {
  /** Selected jobs that are shown and unfinished. */
  ids: readonly string[];
  has(id: string): boolean;
  all: boolean | 'some';
  /** `range`: also changes the jobs between this one and the last changed one. */
  set: (id: string, selected: boolean, range: boolean) => void;
  setAll: (selected: boolean) => void;
  clear: () => void;
};

export function useSelection(jobs: readonly Job[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState<string | null>(null);
  const open = jobs.filter((job) => !isFinished(job)).map(({ id }) => id);
  const ids = open.filter((id) => chosen.has(id));
  const change = (changed: readonly string[], selected: boolean): void => {
    const next = new Set(ids);
    for (const id of changed)
      if (selected) next.add(id);
      else next.delete(id);
    setChosen(next);
  };
  return {
    ids,
    has: (id) => chosen.has(id),
    all: ids.length === 0 ? false : ids.length === open.length || 'some',
    set(id, selected, range) {
      change(range && last !== null ? between(open, last, id) : [id], selected);
      setLast(id);
    },
    setAll: (selected) => change(open, selected),
    clear: () => {
      setChosen(new Set());
      setLast(null);
    },
  };
}

/** Inclusive range. If one end is no longer shown, only `to`. */
function between(ids: readonly string[], from: string, to: string): string[] {
  const [a, b] = [ids.indexOf(from), ids.indexOf(to)];
  if (a === -1 || b === -1) return [to];
  return ids.slice(Math.min(a, b), Math.max(a, b) + 1);
}
