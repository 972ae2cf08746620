/**
 * Has all below a key asked for anew, also what is being asked for the first time: TanStack Query lets that answer stand,
 * though it may tell of what was before.
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
