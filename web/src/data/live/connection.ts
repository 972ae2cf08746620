/**
 * Whether the API can be reached. Failed requests and streams mark the connection as lost; the health endpoint is then
 * polled until it answers. Callbacks of `onReturn` run after that and refetch the queries.
 */
import { NightshiftError } from 'nightshift/client';
import { useSyncExternalStore } from 'react';
import { client } from '../client.ts';

const ASK_AGAIN_MS = 1_500;

const listeners = new Set<() => void>();
const returned = new Set<() => void>();
let lost = false;

/** Call it when a request or a stream could not reach the API. */
export function markLost(): void {
  if (lost) return;
  set(true);
  void askUntilThere();
}

/** Calls `back` each time the API can be reached again. */
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
