/** Queries for the message window of a branch and for its queued inputs. */
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Message } from 'nightshift/client';
import { client } from '../client.ts';
import { keys } from './keys.ts';
import { messageStore } from '../live/message-store.ts';

export function useMessages(contextId: string, branch: string) {
  const store = messageStore(useQueryClient(), contextId, branch);
  const query = useQuery({
    queryKey: keys.messageList(contextId, branch),
    queryFn: ({ signal }) => store.read(signal),
    // The stream delivers new messages.
    staleTime: Infinity,
    refetchOnMount: 'always',
    gcTime: 60_000,
    structuralSharing: false,
  });
  return { query, store };
}

/** Poll interval for inputs that other clients queue, while the context is busy. */
const OTHERS_MS = 2_500;

/** Queued inputs, the next one first. */
export function queueQuery(contextId: string, branch: string, isBusy: boolean) {
  return queryOptions({
    queryKey: keys.queue(contextId, branch),
    queryFn: async ({ signal }) => {
      const queued: Message[] = [];
      const newest = client.contexts.messages.list(contextId, { branch, order: 'desc', limit: 20 }, { signal });
      for await (const message of newest) {
        if (message.seq !== null) break;
        queued.unshift(message);
      }
      return queued;
    },
    refetchInterval: isBusy ? OTHERS_MS : false,
  });
}
