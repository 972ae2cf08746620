/** Inputs sent by this tab, shown until the message lists contain them. */
import type { PostMessage } from 'nightshift/client';

export type Batch = {
  key: string;
  content: PostMessage['content'];
  /** null while the request is running. */
  sent: { messageId: string } | null;
};

/** Lists contain a sent input within seconds, unless it was withdrawn; after this time it is no longer shown. */
const LONGEST_MS = 10_000;
const NONE: readonly Batch[] = [];

const inputs = new Map<string, readonly Batch[]>();
const listeners = new Set<() => void>();
let count = 0;

export function readSending(contextId: string): readonly Batch[] {
  return inputs.get(contextId) ?? NONE;
}

export function onSending(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns the key of the entry. */
export function addSending(contextId: string, content: PostMessage['content']): string {
  count += 1;
  const key = `sending-${count}`;
  change(contextId, (before) => [...before, { key, content, sent: null }]);
  return key;
}

/** `messageId` is null if the input created no message, such as the answer to a question. */
export function markSent(contextId: string, key: string, messageId: string | null): void {
  if (messageId === null) return forgetSending(contextId, key);
  change(contextId, (before) => before.map((one) => (one.key === key ? { ...one, sent: { messageId } } : one)));
  setTimeout(() => forgetSending(contextId, key), LONGEST_MS);
}

export function forgetSending(contextId: string, key: string): void {
  change(contextId, (before) => before.filter((one) => one.key !== key));
}

function change(contextId: string, to: (before: readonly Batch[]) => readonly Batch[]): void {
  const next = to(readSending(contextId));
  if (next.length === 0) inputs.delete(contextId);
  else inputs.set(contextId, next);
  for (const notify of listeners) notify();
}
