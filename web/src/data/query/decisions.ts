/**
 * Decisions made in this tab on tool calls that wait for a person. A decision is held for three seconds, during which
 * it can be undone, and is then sent. A tab that is closed or hidden sends its held decisions at once. The API accepts
 * only the first decision that it receives.
 */
import { useSyncExternalStore } from 'react';

export type Decision = {
  /** held: can be undone. sending: the request is running. sent: the API accepted it. */
  state: 'held' | 'sending' | 'sent';
  /** Label of the decision, such as “Approved”. */
  words: string;
};

/** One wait of a call. A call can wait more than once; `since` tells the waits apart. */
export type Wait = { callId: string; since: string | null };

export type Deciding = {
  words: string;
  /** Resolves with the other waits that the same request decided. */
  send: () => Promise<readonly Wait[]>;
  /** Called after a failed request; the call can be decided again. */
  onError: (error: unknown) => void;
  onSettled: () => void;
};

export const HELD_MS = 3_000;

const decisions = new Map<string, Decision>();
const held = new Map<string, { deciding: Deciding; timer: ReturnType<typeof setTimeout> }>();
const listeners = new Set<() => void>();

/** Null if this tab made no decision on this wait. */
export function useDecision(wait: Wait): Decision | null {
  return useSyncExternalStore(listen, () => decisions.get(keyOf(wait)) ?? null);
}

/** Ignored if a decision on this wait already exists. */
export function decide(wait: Wait, deciding: Deciding): void {
  const key = keyOf(wait);
  if (decisions.has(key)) return;
  held.set(key, { deciding, timer: setTimeout(() => void send(key), HELD_MS) });
  set(key, { state: 'held', words: deciding.words });
}

/** Undoes a decision; has an effect only while the decision is held. */
export function takeBack(wait: Wait): void {
  const key = keyOf(wait);
  if (unhold(key) !== null) set(key, null);
}

/** Sends all held decisions at once. Resolves when the API has answered all of them. */
export async function sendHeld(): Promise<void> {
  await Promise.all([...held.keys()].map(send));
}

async function send(key: string): Promise<void> {
  const deciding = unhold(key);
  if (deciding === null) return;
  const { words } = deciding;
  set(key, { state: 'sending', words });
  try {
    const others = await deciding.send();
    for (const other of others)
      set(keyOf(other), { state: 'sent', words: 'Decided together with another call' });
    set(key, { state: 'sent', words });
  } catch (error) {
    set(key, null);
    deciding.onError(error);
  }
  deciding.onSettled();
}

function unhold(key: string): Deciding | null {
  const one = held.get(key);
  if (one === undefined) return null;
  clearTimeout(one.timer);
  held.delete(key);
  return one.deciding;
}

function keyOf({ callId, since }: Wait): string {
  return `${callId} ${since ?? ''}`;
}

function set(key: string, decision: Decision | null): void {
  if (decision === null) decisions.delete(key);
  else decisions.set(key, decision);
  for (const notify of listeners) notify();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

addEventListener('pagehide', () => void sendHeld());
// Phones close hidden tabs without firing `pagehide`.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') void sendHeld();
});
