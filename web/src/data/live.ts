/** What happens in a context while somebody looks at it. */
import { useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { liveStore } from './live-stream.ts';
import type { Live } from './live-stream.ts';

/**
 * Follows the stream of a context for as long as it is used, and keeps the queries of the context true meanwhile. Gives the
 * connection, the state as told last, and the texts in the making.
 */
export function useLive(contextId: string): Live {
  const store = liveStore(useQueryClient(), contextId);
  return useSyncExternalStore(store.listen, store.read);
}
