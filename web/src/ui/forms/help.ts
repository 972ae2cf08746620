/** Whether the shortcut help is open. Any component can open it; the shell renders it. */
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
