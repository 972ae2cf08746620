/** Whether the list of keys is shown. Any page may ask for it; the shell shows it. */
import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let shown = false;

export const showHelp = (): void => set(true);
export const hideHelp = (): void => set(false);

export function useHelpShown(): boolean {
  return useSyncExternalStore(listen, () => shown);
}

function set(next: boolean): void {
  shown = next;
  for (const showNotice of listeners) showNotice();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
