/** Keeps new jobs out of the list, so that rows do not move under the pointer or while jobs are selected; they are counted. */
import { useState } from 'react';

type Held<Row> = {
  shown: readonly Row[];
  /** Newer ones that are not shown. */
  newer: number;
  /** Shows them too. */
  showNewer: () => void;
};

/** `list`: names the list; another one begins with all of its rows. Rows are ordered by id, newest first. */
export function useHeldTop<Row extends { id: string }>(rows: readonly Row[], isHeld: boolean, list: string): Held<Row> {
  const [held, setHeld] = useState<{ list: string; top: string } | null>(null);
  const [first] = rows;
  const isKept = isHeld && held?.list === list;
  const wanted = isKept ? held : isHeld && first !== undefined ? { list, top: first.id } : null;
  if (wanted?.top !== held?.top || wanted?.list !== held?.list) setHeld(wanted);
  const showNewer = (): void => setHeld(null);
  if (wanted === null) return { shown: rows, newer: 0, showNewer };
  const shown = rows.filter(({ id }) => id <= wanted.top);
  return { shown, newer: rows.length - shown.length, showNewer };
}
