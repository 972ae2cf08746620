/** API keys of the tenant. No key itself is ever part of what is cached. */
import { infiniteQueryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './query/keys.ts';
import { at, byCursor } from './query/pages-of.ts';

function readPage(cursor: string | undefined, signal: AbortSignal) {
  return client.keys.list({ ...at(cursor), limit: 100 }, { signal }).page();
}

/** Newest first. Polled by `useRefreshed`. */
export function apiKeysQuery() {
  return infiniteQueryOptions({
    queryKey: keys.apiKeys,
    queryFn: ({ pageParam, signal }) => readPage(pageParam, signal),
    ...byCursor,
  });
}

export function apiKeysRefresh() {
  return { queryKey: keys.apiKeys, readPage, pollMs: 60_000 };
}
