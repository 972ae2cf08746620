/**
 * Rows of the inbox: all waiting items, and the items that stopped waiting since the page was opened. These keep their
 * positions, so that cards do not move while the user answers. `held` is the key of the row that has the focus, or had it
 * last: it is always shown, since a row that goes would take the focus along.
 */
import type { InboxItem } from 'nightshift/client';

export type Row = { item: InboxItem; isOver: boolean };

/** Maximum number of finished rows that are kept beside the held one; the oldest are dropped first. */
const MOST_OVER = 50;

export function keyOf({ tool_call_id, requested_at }: InboxItem): string {
  return `${tool_call_id} ${requested_at}`;
}

/** Newest first. `waiting` is oldest first. */
export function merge(before: readonly Row[], waiting: readonly InboxItem[], held: string | null): readonly Row[] {
  const there = new Set(waiting.map(keyOf));
  const over = before
    .filter(({ item }) => !there.has(keyOf(item)))
    .filter(({ item }, at) => at < MOST_OVER || keyOf(item) === held)
    .map(({ item }) => ({ item, isOver: true }));
  const rows = [...waiting.toReversed().map((item) => ({ item, isOver: false })), ...over];
  return rows.toSorted((one, other) => newestFirst(one.item, other.item));
}

/** The first `most` waiting rows, with the finished rows between them; more if the held row comes later. */
export function firstWaiting(rows: readonly Row[], most: number, held: string | null): readonly Row[] {
  let waiting = 0;
  const end = rows.findIndex(({ isOver }) => {
    if (!isOver) waiting += 1;
    return waiting > most;
  });
  if (end === -1) return rows;
  const afterHeld = rows.findIndex(({ item }) => keyOf(item) === held) + 1;
  return rows.slice(0, Math.max(end, afterHeld));
}

function newestFirst(one: InboxItem, other: InboxItem): number {
  if (one.requested_at !== other.requested_at) return one.requested_at < other.requested_at ? 1 : -1;
  return one.tool_call_id < other.tool_call_id ? 1 : -1;
}
