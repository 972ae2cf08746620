/** Hook for the live state of a context. */
import { useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { liveStore, type Live } from './live-stream.ts';

/**
 * Subscribes to the stream of a context while the component is mounted; the stream keeps the queries of the context
 * current. Returns the connection, the latest state and the partial messages.
 */
export function useLive(contextId: string): Live {
  const store = liveStore(useQueryClient(), contextId);
  return useSyncExternalStore(store.listen, store.read);
}
