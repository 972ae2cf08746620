/** Whether the window is as narrow as a phone, for components that have another layout there. */
import { useSyncExternalStore } from 'react';

const narrow = globalThis.matchMedia('(max-width: 760px)');

function listen(listener: () => void): () => void {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
}

export function useIsNarrow(): boolean {
  return useSyncExternalStore(listen, () => narrow.matches);
}
