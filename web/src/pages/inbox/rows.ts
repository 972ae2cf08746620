/**
 * Rows of the inbox: all waiting items, and the items that stopped waiting since the page was opened. These keep their
 * positions, so that cards do not move while the user answers.
 */
import { useState } from 'react';
import type { InboxItem } from 'nightshift/client';

export type Row = { item: InboxItem; isOver: boolean };

/** Maximum number of finished rows that are kept; the oldest are dropped first. */
const MOST_OVER = 50;

/** Newest first. `waiting` is oldest first; undefined while loading. */
export function useRows(waiting: readonly InboxItem[] | undefined): readonly Row[] {
  const [known, setKnown] = useState<{ waiting: typeof waiting; rows: readonly Row[] }>({
    waiting: undefined,
    rows: [],
  });
  if (waiting === undefined || waiting === known.waiting) return known.rows;
  const rows = merge(known.rows, waiting);
  setKnown({ waiting, rows });
  return rows;
}

export function keyOf({ tool_call_id, requested_at }: InboxItem): string {
  return `${tool_call_id} ${requested_at}`;
}

function merge(before: readonly Row[], waiting: readonly InboxItem[]): readonly Row[] {
  const there = new Set(waiting.map(keyOf));
  const over = before
    .filter(({ item }) => !there.has(keyOf(item)))
    .slice(0, MOST_OVER)
    .map(({ item }) => ({ item, isOver: true }));
  const rows = [...waiting.toReversed().map((item) => ({ item, isOver: false })), ...over];
  return rows.toSorted((one, other) => newestFirst(one.item, other.item));
}

function newestFirst(one: InboxItem, other: InboxItem): number {
  if (one.requested_at !== other.requested_at) return one.requested_at < other.requested_at ? 1 : -1;
  return one.tool_call_id < other.tool_call_id ? 1 : -1;
}
