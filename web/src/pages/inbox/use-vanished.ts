/** Says so when something is gone that was not answered in this window. */
import { useEffect, useRef } from 'react';
import type { InboxItem } from 'nightshift/client';
import { wasAnsweredHere } from '../../answers/use-answer.ts';
import { tell } from '../../ui/toaster.tsx';

export function useVanished(items: readonly InboxItem[] | undefined): void {
  const before = useRef<readonly InboxItem[]>([]);
  useEffect(() => {
    if (items === undefined) return;
    const there = new Set(items.map(({ tool_call_id: id }) => id));
    const gone = before.current.filter(({ tool_call_id: id }) => !there.has(id) && !wasAnsweredHere(id));
    before.current = items;
    const [first] = gone;
    if (first === undefined) return;
    tell(
      gone.length === 1
        ? `${first.name} does not wait any more: it was answered elsewhere, or is over.`
        : `${gone.length} do not wait any more: they were answered elsewhere, or are over.`,
    );
  }, [items]);
}
