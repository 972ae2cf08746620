/** Whether the command palette is open. Any component can open it; the shell renders it. */
import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let shown = false;

export const showPalette = (): void => set(true);
export const hidePalette = (): void => set(false);
export const isPaletteShown = (): boolean => shown;

export function usePaletteShown(): boolean {
  return useSyncExternalStore(listen, isPaletteShown);
}

function set(next: boolean): void {
  shown = next;
  for (const notify of listeners) notify();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
