/** Queries for schedules and their runs. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { client } from '../../data/client.ts';
import { everyMs } from '../../data/live/changes.ts';
import { keys } from '../../data/query/keys.ts';
import { at, byCursor } from '../../data/query/pages-of.ts';

const AGAIN_MS = 5_000;

function readPage(cursor: string | undefined, signal: AbortSignal) {
  return client.schedules.list({ ...at(cursor), limit: 50 }, { signal }).page();
}

/** Polled by `useRefreshed`. */
export function schedulesQuery() {
  return infiniteQueryOptions({
    queryKey: keys.schedules,
    queryFn: ({ pageParam, signal }) => readPage(pageParam, signal),
    ...byCursor,
  });
}

export function schedulesRefresh() {
  return { queryKey: keys.schedules, readPage, pollMs: AGAIN_MS };
}

/** The newest runs. */
export function scheduleRunsQuery(id: string) {
  return queryOptions({
    queryKey: keys.scheduleRuns(id),
    queryFn: ({ signal }) => client.schedules.runs(id, { limit: 50 }, { signal }).page(),
    refetchInterval: () => everyMs(AGAIN_MS),
  });
}
