/**
 * Decisions made in this tab on tool calls that wait for a person. A decision is sent after three seconds, during which
 * it can be undone. A tab that is closed or hidden sends its pending decisions at once. The API accepts only the first
 * decision that it receives.
 */
import { useSyncExternalStore } from 'react';

export type Decision = {
  /** undoable: not sent yet. sending: the request is running. sent: the API accepted it. */
  state: 'undoable' | 'sending' | 'sent';
  /** Label of the decision, such as “Approved”. */
  label: string;
};

/** One wait of a call. A call can wait more than once; `since` tells the waits apart. */
export type Wait = { callId: string; since: string | null };

type Deciding = {
  label: string;
  /** The label of other waits that the same request decided. */
  labelOfOthers: string;
  /** Resolves with the other waits that the same request decided. */
  send: () => Promise<readonly Wait[]>;
  /** Called after a failed request; the call can be decided again. */
  onError: (error: unknown) => void;
  onSettled: () => void;
};

const UNDO_MS = 3_000;

const decisions = new Map<string, Decision>();
const pending = new Map<string, { deciding: Deciding; timer: ReturnType<typeof setTimeout> }>();
const listeners = new Set<() => void>();

/** Null if this tab made no decision on this wait. */
export function useDecision(wait: Wait): Decision | null {
  return useSyncExternalStore(listen, () => decisions.get(keyOf(wait)) ?? null);
}

/** Ignored if a decision on this wait already exists. */
export function decide(wait: Wait, deciding: Deciding): void {
  const key = keyOf(wait);
  if (decisions.has(key)) return;
  pending.set(key, { deciding, timer: setTimeout(() => void send(key), UNDO_MS) });
  set(key, { state: 'undoable', label: deciding.label });
}

/** Undoes a decision; has an effect only while the decision is pending. */
export function takeBack(wait: Wait): void {
  const key = keyOf(wait);
  if (takePending(key) !== null) set(key, null);
}

/** Sends all pending decisions at once. Resolves when the API has answered all of them. */
export async function sendPending(): Promise<void> {
  await Promise.all([...pending.keys()].map(send));
}

async function send(key: string): Promise<void> {
  const deciding = takePending(key);
  if (deciding === null) return;
  const { label, labelOfOthers } = deciding;
  set(key, { state: 'sending', label });
  try {
    const others = await deciding.send();
    for (const other of others) set(keyOf(other), { state: 'sent', label: labelOfOthers });
    set(key, { state: 'sent', label });
  } catch (error) {
    set(key, null);
    deciding.onError(error);
  }
  deciding.onSettled();
}

function takePending(key: string): Deciding | null {
  const one = pending.get(key);
  if (one === undefined) return null;
  clearTimeout(one.timer);
  pending.delete(key);
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

addEventListener('pagehide', () => void sendPending());
// Phones close hidden tabs without firing `pagehide`.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') void sendPending();
});
