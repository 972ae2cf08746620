/** Answers that are shown as the model wrote them, for as long as the tab is open: the list forgets what is out of sight. */
import { useSyncExternalStore } from 'react';

const raw = new Set<string>();
const listeners = new Set<() => void>();

export function useIsRaw(messageId: string): boolean {
  return useSyncExternalStore(listen, () => raw.has(messageId));
}

export function showRaw(messageId: string, isRaw: boolean): void {
  if (isRaw) raw.add(messageId);
  else raw.delete(messageId);
  for (const tell of listeners) tell();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
