/**
 * What was decided in this tab on calls that wait for a person. A decision is held for three seconds, in which it can be taken
 * back, and is sent then; a tab that is left sends at once what it holds. Once sent, the first decision stands, whoever made it.
 */
import { useSyncExternalStore } from 'react';

export type Decision = {
  /** held: it can be taken back. sending: it is on its way. sent: the API has taken it. */
  state: 'held' | 'sending' | 'sent';
  /** Such as “Approved”. */
  words: string;
};

/** A wait of a call: it may wait more than once, each time since another moment. */
export type Wait = { callId: string; since: string | null };

export type Deciding = {
  words: string;
  /** Gives what else it decided. */
  send: () => Promise<readonly Wait[]>;
  /** It is open again then. */
  onError: (error: unknown) => void;
  onSettled: () => void;
};

export const HELD_MS = 3_000;

const decisions = new Map<string, Decision>();
const held = new Map<string, { deciding: Deciding; timer: ReturnType<typeof setTimeout> }>();
const listeners = new Set<() => void>();

/** Null: nothing was decided here. */
export function useDecision(wait: Wait): Decision | null {
  return useSyncExternalStore(listen, () => decisions.get(keyOf(wait)) ?? null);
}

/** The first decision stands until it is taken back. */
export function decide(wait: Wait, deciding: Deciding): void {
  const key = keyOf(wait);
  if (decisions.has(key)) return;
  held.set(key, { deciding, timer: setTimeout(() => void send(key), HELD_MS) });
  set(key, { state: 'held', words: deciding.words });
}

/** Of use while it is held. */
export function takeBack(wait: Wait): void {
  const key = keyOf(wait);
  if (unhold(key) !== null) set(key, null);
}

/** Resolves once all that is held was answered, or refused. */
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
    for (const other of others) set(keyOf(other), { state: 'sent', words: 'Decided with another one' });
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
// Phones end hidden tabs without another word.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') void sendHeld();
});
