/**
 * Whether the API can be reached, as told by streams and by requests. While it cannot, it is asked until it answers; then all
 * that is shown is asked for anew.
 */
import { NightshiftError } from 'nightshift/client';
import { useSyncExternalStore } from 'react';
import { client } from './client.ts';

const ASK_AGAIN_MS = 1_500;

const listeners = new Set<() => void>();
const returned = new Set<() => void>();
let lost = false;

/** Call it when something was not answered. */
export function markLost(): void {
  if (lost) return;
  set(true);
  void askUntilThere();
}

/** `back` is called each time that the API is there again. */
export function onReturn(back: () => void): () => void {
  returned.add(back);
  return () => returned.delete(back);
}

export function useIsLost(): boolean {
  return useSyncExternalStore(listen, () => lost);
}

export function isUnreached(error: unknown): boolean {
  if (!(error instanceof NightshiftError)) return false;
  return ['unreachable', 'timed_out', 'unexpected_answer', 'unavailable'].includes(error.code);
}

async function askUntilThere(): Promise<void> {
  while (lost) {
    try {
      await client.system.health({ retries: 0, timeoutMs: 5_000 });
      set(false);
      for (const back of returned) back();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
    }
  }
}

function set(next: boolean): void {
  lost = next;
  for (const notify of listeners) notify();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
