/**
 * Refetches all queries below a key, including first fetches in progress. TanStack Query would keep the answer of such
 * a first fetch, which may predate the change.
 */
import type { QueryClient } from '@tanstack/react-query';

export async function refetch(cache: QueryClient, queryKey: readonly unknown[]): Promise<void> {
  const first = cache
    .getQueryCache()
    .findAll({ queryKey, fetchStatus: 'fetching' })
    .filter(({ state }) => state.data === undefined);
  await cache.invalidateQueries({ queryKey });
  await Promise.all(first.map((query) => cache.invalidateQueries({ queryKey: query.queryKey, exact: true })));
}
