/** Queries for the whole installation: approvals, system, statistics and search. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client } from '../client.ts';
import { everyMs } from '../live/changes.ts';
import { keys, type SearchFilter } from './keys.ts';
import { at, byCursor } from './pages-of.ts';

/** Oldest first. */
export function approvalsQuery() {
  return queryOptions({
    queryKey: keys.approvals,
    queryFn: ({ signal }) => client.approvals.list({ limit: 200 }, { signal }).page(),
    refetchInterval: () => everyMs(5_000),
  });
}

/** All tools that are known, with the schemas of their inputs. */
export function toolsQuery() {
  return queryOptions({
    queryKey: keys.tools,
    queryFn: ({ signal }) => client.system.tools({ signal }),
    staleTime: 30_000,
    refetchInterval: 60_000,
  });
}

/** What the tenant used of each tool in the last hours. Processes store it once a minute. */
export function toolUseQuery(hours: number, enabled: boolean) {
  return queryOptions({
    queryKey: keys.toolUse(hours),
    queryFn: ({ signal }) => client.system.toolUse({ hours }, { signal }),
    refetchInterval: 60_000,
    placeholderData: keepPreviousData,
    enabled,
  });
}

/** Providers, tools, MCP servers, limits and processes of the installation. */
export function systemQuery() {
  return queryOptions({
    queryKey: keys.system,
    queryFn: ({ signal }) => client.system.get({ signal }),
    staleTime: 10_000,
  });
}

export function statsQuery() {
  return queryOptions({
    queryKey: keys.stats,
    queryFn: ({ signal }) => client.system.stats({ signal }),
    refetchInterval: () => everyMs(2_000),
  });
}

/** The last `spanS` seconds. */
export function historyQuery(spanS: number) {
  return queryOptions({
    queryKey: keys.history(spanS),
    queryFn: ({ signal }) =>
      client.system.history({ from: new Date(Date.now() - spanS * 1_000).toISOString() }, { signal }),
    // Time passes on the plots, whatever happens.
    refetchInterval: () => Math.min(everyMs(10_000), 30_000),
    placeholderData: keepPreviousData,
  });
}

/** Disabled while `q` is empty. */
export function searchQuery(filter: SearchFilter) {
  return infiniteQueryOptions({
    queryKey: keys.search(filter),
    queryFn: ({ pageParam, signal }) => client.search({ ...filter, ...at(pageParam), limit: 25 }, { signal }).page(),
    ...byCursor,
    enabled: filter.q.trim() !== '',
    placeholderData: keepPreviousData,
  });
}
