/** Queries for jobs, and cancelling several jobs. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { isFinished } from 'nightshift/client';
import { client } from '../client.ts';
import { asOfNow } from '../days.ts';
import { withFreshItems } from './fresh-page.ts';
import { UNFINISHED, type JobFilter, type JobStatus } from '../jobs/job-filter.ts';
import { keys } from './keys.ts';
import { at, byCursor } from './pages-of.ts';

type Unfinished = (typeof UNFINISHED)[number];

const ENDED: JobStatus[] = ['completed', 'incomplete', 'failed', 'cancelled', 'interrupted'];

/** Maximum number of concurrent requests. */
const AT_ONCE = 8;

/** Poll interval for unfinished jobs without a stream. */
const UNDER_WAY_MS = 2_000;

function readPage(filter: JobFilter, cursor: string | undefined, signal: AbortSignal) {
  return client.jobs.list({ ...toQuery(filter), ...at(cursor), include: 'why', limit: 50 }, { signal }).page();
}

/** Polled by `useRefreshed`. */
export function jobsQuery(filter: JobFilter = {}) {
  return infiniteQueryOptions({
    queryKey: keys.jobList(filter),
    queryFn: ({ pageParam, signal }) => readPage(filter, pageParam, signal),
    ...byCursor,
    placeholderData: keepPreviousData,
  });
}

export function jobsRefresh(filter: JobFilter) {
  return {
    queryKey: keys.jobList(filter),
    readPage: (cursor: string | undefined, signal: AbortSignal) => readPage(filter, cursor, signal),
    pollMs: 3_000,
    // Only the default order is by id, newest first; a search may leave gaps in it.
    ...(filter.sort === undefined && filter.q === undefined ? {} : { withFreshTop: withFreshItems }),
  };
}

/** The newest job of a context that has ended; null: there is none. */
export function lastJobQuery(contextId: string) {
  return queryOptions({
    queryKey: keys.lastJob(contextId),
    queryFn: async ({ signal }) => {
      const page = await client.jobs.list({ context_id: contextId, status: ENDED, limit: 1 }, { signal }).page();
      return page.data[0] ?? null;
    },
  });
}

/** Query parameters carry the metadata filter as JSON text. */
function toQuery({ metadata, ...filter }: JobFilter) {
  const rest = asOfNow(filter);
  return metadata === undefined ? rest : { ...rest, metadata: JSON.stringify(metadata) };
}

/** Counting stops at this number. */
const MOST_COUNTED = 200;

/** Number of unfinished jobs that match a filter. `more`: the number exceeds `MOST_COUNTED`. */
export async function countUnfinished(
  filter: JobFilter,
  signal: AbortSignal,
): Promise<{ count: number; more: boolean }> {
  const status = unfinishedOf(filter);
  if (status.length === 0) return { count: 0, more: false };
  let count = 0;
  // A page of a search may be empty and not be the last.
  for await (const _ of client.jobs.list({ ...toQuery(unsorted(filter)), status, limit: MOST_COUNTED }, { signal })) {
    if (count === MOST_COUNTED) return { count, more: true };
    count += 1;
  }
  return { count, more: false };
}

/** In the default order a list is whole, and jobs keep their place in it. */
function unsorted(filter: JobFilter): JobFilter {
  const { sort: _, ...rest } = filter;
  return rest;
}

/** Requests the cancellation of these jobs. Returns how many were requested; jobs that had ended do not count. */
export async function cancelJobs(ids: readonly string[]): Promise<number> {
  const cancelled = await Promise.all(ids.map((id) => client.jobs.cancel(id)));
  return cancelled.filter(({ requested_at }) => requested_at !== null).length;
}

/** Requests the cancellation of all unfinished jobs that match the filter. Returns how many were requested. */
export async function cancelMatching(filter: JobFilter): Promise<number> {
  const { created_after, created_before, within_ms, parent_job_id, q, status: _, ...rest } = unsorted(filter);
  const statuses = unfinishedOf(filter);
  if (statuses.length === 0) return 0;
  // The cancel endpoint does not support these filters: list the jobs and cancel them one by one.
  const isListed = [created_after, created_before, within_ms, parent_job_id, q].some((one) => one !== undefined);
  // By worker it would also cancel jobs of descendants, which the list does not show.
  if (isListed || rest.worker_id !== undefined) return cancelListed({ ...unsorted(filter), status: statuses });
  const isAny = statuses.length === UNFINISHED.length && Object.keys(rest).length > 0;
  if (isAny) return (await client.jobs.cancelAll(rest)).count;
  const counts = await Promise.all(statuses.map((status) => client.jobs.cancelAll({ ...rest, status })));
  return counts.reduce((sum, { count }) => sum + count, 0);
}

async function cancelListed(filter: JobFilter): Promise<number> {
  const ids: string[] = [];
  for await (const { id } of client.jobs.list({ ...toQuery(filter), limit: 200 })) ids.push(id);
  let requested = 0;
  for (let at = 0; at < ids.length; at += AT_ONCE) requested += await cancelJobs(ids.slice(at, at + AT_ONCE));
  return requested;
}

function unfinishedOf({ status }: JobFilter): Unfinished[] {
  return UNFINISHED.filter((one) => status === undefined || status.includes(one));
}

export function jobQuery(id: string) {
  return queryOptions({
    queryKey: keys.jobRecord(id),
    queryFn: ({ signal }) => client.jobs.get(id, {}, { signal }),
    refetchInterval: ({ state }) => (state.data === undefined || isFinished(state.data) ? false : UNDER_WAY_MS),
  });
}

/** Not kept in the cache: the prompt never changes, but which parts the API returns depends on settings. */
export function promptQuery(id: string, n: number) {
  return queryOptions({
    queryKey: keys.prompt(id, n),
    queryFn: ({ signal }) => client.jobs.prompt(id, n, { signal }),
    gcTime: 0,
  });
}
