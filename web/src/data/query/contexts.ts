/** Queries for contexts, their branches, messages, compactions and tool calls. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client } from '../client.ts';
import { withFreshTop } from './fresh-page.ts';
import { keys, type ContextFilter } from './keys.ts';
import { at, byCursor } from './pages-of.ts';

function readPage(filter: ContextFilter, cursor: string | undefined, signal: AbortSignal) {
  return client.contexts.list({ ...filter, ...at(cursor), limit: 50 }, { signal }).page();
}

/** Polled by `useRefreshed`: lists have no stream. */
export function contextsQuery(filter: ContextFilter = {}) {
  return infiniteQueryOptions({
    queryKey: keys.contextList(filter),
    queryFn: ({ pageParam, signal }) => readPage(filter, pageParam, signal),
    ...byCursor,
    placeholderData: keepPreviousData,
  });
}

export function contextsRefresh(filter: ContextFilter) {
  return {
    queryKey: keys.contextList(filter),
    readPage: (cursor: string | undefined, signal: AbortSignal) => readPage(filter, cursor, signal),
    pollMs: 5_000,
    ...(filter.sort === 'activity' ? { withFreshTop } : {}),
  };
}

export function contextQuery(id: string) {
  return queryOptions({
    queryKey: keys.contextRecord(id),
    queryFn: ({ signal }) => client.contexts.get(id, { signal }),
  });
}

export function contextStateQuery(id: string) {
  return queryOptions({
    queryKey: keys.contextState(id),
    queryFn: ({ signal }) => client.contexts.state(id, { signal }),
  });
}

export function branchesQuery(id: string) {
  return queryOptions({
    queryKey: keys.branches(id),
    queryFn: ({ signal }) => client.contexts.branches.list(id, { limit: 200 }, { signal }).all(),
  });
}

export function siblingsQuery(id: string, messageId: string) {
  return queryOptions({
    queryKey: keys.siblings(id, messageId),
    queryFn: async ({ signal }) => (await client.contexts.messages.siblings(id, messageId, { signal })).data,
  });
}

export function compactionsQuery(id: string) {
  return queryOptions({
    queryKey: keys.compactions(id),
    queryFn: ({ signal }) => client.contexts.compactions(id, { limit: 200 }, { signal }).all(),
  });
}

/** Messages that a summary replaced, oldest first, followed by the messages after the summary. */
export function compactedQuery(id: string, branch: string) {
  return infiniteQueryOptions({
    queryKey: keys.compacted(id, branch),
    queryFn: ({ pageParam, signal }) =>
      client.contexts.messages
        .list(id, { branch, ...at(pageParam), include: 'compacted', order: 'asc', limit: 100 }, { signal })
        .page(),
    ...byCursor,
  });
}

export function messageQuery(id: string, messageId: string) {
  return queryOptions({
    queryKey: keys.messageRecord(id, messageId),
    queryFn: ({ signal }) => client.contexts.messages.get(id, messageId, { signal }),
  });
}
