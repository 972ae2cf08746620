/** Display settings of single messages, kept while the tab is open, because the list unmounts hidden rows. */
import { useSyncExternalStore } from 'react';

type Marks = { useIsSet: (key: string) => boolean; set: (key: string, isSet: boolean) => void };

function createMarks(): Marks {
  const marked = new Set<string>();
  const listeners = new Set<() => void>();
  const subscribe = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    useIsSet: (key) => useSyncExternalStore(subscribe, () => marked.has(key)),
    set(key, isSet) {
      if (isSet) marked.add(key);
      else marked.delete(key);
      for (const notify of listeners) notify();
    },
  };
}

/** Ids of messages that are shown as raw text. */
export const raw = createMarks();

/** Ids of thinking blocks, tool calls and compactions that are open. */
export const unfolded = createMarks();
