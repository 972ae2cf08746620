import { useState } from 'react';
import type { InboxItem } from 'nightshift/client';
import { merge, type Row } from './rows.ts';

/** Newest first. `waiting` is oldest first; undefined while loading. `held`: see rows.ts. */
export function useRows(waiting: readonly InboxItem[] | undefined, held: string | null): readonly Row[] {
  const [known, setKnown] = useState<{ waiting: typeof waiting; rows: readonly Row[] }>({
    waiting: undefined,
    rows: [],
  });
  if (waiting === undefined || waiting === known.waiting) return known.rows;
  const rows = merge(known.rows, waiting, held);
  setKnown({ waiting, rows });
  return rows;
}
