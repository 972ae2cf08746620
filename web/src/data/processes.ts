/** Worker processes, for the operator: newest first. */
import { infiniteQueryOptions } from '@tanstack/react-query';
import type { WorkerProcess } from 'nightshift/client';
import { client } from './client.ts';
import { keys } from './query/keys.ts';
import { at, byCursor } from './query/pages-of.ts';

const EVERY_MS = 10_000;
/** While a process does not yet do what was asked of it, or drains. */
const CHANGING_MS = 1_000;
/** Those that ended: a new one comes with a change of those that are alive. */
const ENDED_MS = 30_000;

export function processesQuery(live: boolean) {
  return infiniteQueryOptions({
    queryKey: keys.processList(live),
    queryFn: ({ pageParam, signal }) => client.processes.list({ ...at(pageParam), live, limit: 50 }, { signal }).page(),
    ...byCursor,
    refetchInterval: ({ state }) => {
      if (!live) return ENDED_MS;
      const all = state.data?.pages.flatMap(({ data }) => data) ?? [];
      return all.some(isChanging) ? CHANGING_MS : EVERY_MS;
    },
  });
}

/** Whether it begins runs, and nothing else was asked of it. */
export function beginsRuns({ status, requested_status }: WorkerProcess): boolean {
  return status === 'running' && requested_status === 'running';
}

/** Whether it will soon do something else than now. */
export function isChanging({ status, requested_status, ended_at }: WorkerProcess): boolean {
  return ended_at === null && (status === 'draining' || status !== requested_status);
}
