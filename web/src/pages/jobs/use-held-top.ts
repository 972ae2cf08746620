/** Keeps new jobs out of the list, so that rows do not move under the pointer or while jobs are selected; they are counted. */
import { useState } from 'react';
import { nextTop, type Top } from './next-top.ts';

type Held<Row> = {
  shown: readonly Row[];
  /** Newer ones that are not shown. */
  newer: number;
  /** Shows them too. */
  showNewer: () => void;
};

/**
 * `list`: names the list; another one begins with all of its rows. Rows are ordered by id, newest first. Not `isHeld` while
 * the rows are still those of another list.
 */
export function useHeldTop<Row extends { id: string }>(rows: readonly Row[], isHeld: boolean, list: string): Held<Row> {
  const [held, setHeld] = useState<Top | null>(null);
  const top = nextTop(held, list, rows, isHeld);
  if (top?.id !== held?.id || top?.list !== held?.list) setHeld(top);
  const showNewer = (): void => setHeld(null);
  if (top === null) return { shown: rows, newer: 0, showNewer };
  const shown = rows.filter(({ id }) => id <= top.id);
  return { shown, newer: rows.length - shown.length, showNewer };
}
