/** Hooks for inputs that are being sent. */
import { useLayoutEffect, useSyncExternalStore } from 'react';
import { forgetSending, onSending, readSending, type Batch } from './sending.ts';

export function useSending(contextId: string): readonly Batch[] {
  return useSyncExternalStore(onSending, () => readSending(contextId));
}

/** Removes sent inputs that the message list now contains. */
export function useTakenOver(contextId: string, messages: readonly { id: string }[]): void {
  const sending = useSending(contextId);
  useLayoutEffect(() => {
    const known = new Set(messages.map(({ id }) => id));
    for (const { key, sent } of sending) if (sent !== null && known.has(sent.messageId)) forgetSending(contextId, key);
  }, [contextId, messages, sending]);
}
