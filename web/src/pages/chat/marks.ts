/** What a person has set on parts of a conversation, for as long as the tab is open: the list unmounts what is out of sight. */
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

/** Answers, by message id, that are shown as the model wrote them. */
export const raw = createMarks();

/** Thoughts that are open. */
export const unfolded = createMarks();
