/** What REST tells of jobs. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { isFinished } from 'nightshift/client';
import { client } from './client.ts';
import { keys } from './keys.ts';
import type { JobFilter } from './keys.ts';
import { at, byCursor } from './pages-of.ts';

const UNFINISHED = ['queued', 'running', 'waiting'] as const;
type Unfinished = (typeof UNFINISHED)[number];

/** Requests that are made side by side. */
const AT_ONCE = 8;

/** How often what is under way is asked for again, where no stream tells of it. */
const UNDER_WAY_MS = 2_000;

export function jobsQuery(filter: JobFilter = {}) {
  return infiniteQueryOptions({
    queryKey: keys.jobList(filter),
    queryFn: ({ pageParam, signal }) =>
      client.jobs.list({ ...toQuery(filter), ...at(pageParam), limit: 50 }, { signal }).page(),
    ...byCursor,
    refetchInterval: 3_000,
    placeholderData: keepPreviousData,
  });
}

/** In an address JSON is text. */
function toQuery({ metadata, ...rest }: JobFilter) {
  return metadata === undefined ? rest : { ...rest, metadata: JSON.stringify(metadata) };
}

/** More are not counted one by one. */
const MOST_COUNTED = 200;

/** How many unfinished jobs a filter meets, so far as it is worth counting. */
export async function countUnfinished(filter: JobFilter): Promise<{ count: number; more: boolean }> {
  const status = unfinishedOf(filter);
  if (status.length === 0) return { count: 0, more: false };
  const page = await client.jobs.list({ ...toQuery(filter), status, limit: MOST_COUNTED }).page();
  return { count: page.data.length, more: page.next_cursor !== null };
}

/** Tells those jobs to stop; how many were told. One that ended meanwhile is none of them. */
export async function cancelJobs(ids: readonly string[]): Promise<number> {
  const told = await Promise.all(ids.map((id) => client.jobs.cancel(id)));
  return told.filter(({ requested_at }) => requested_at !== null).length;
}

/** Tells all unfinished jobs that the filter meets to stop; how many were told. */
export async function cancelMatching(filter: JobFilter): Promise<number> {
  const { created_after, created_before, parent_job_id, status: _, ...rest } = filter;
  const statuses = unfinishedOf(filter);
  if (statuses.length === 0) return 0;
  // What the API cannot cancel by is listed and cancelled one by one.
  const isListed = [created_after, created_before, parent_job_id].some((one) => one !== undefined);
  // Of a worker it cancels those below it too, which the list does not show.
  if (isListed || rest.worker_id !== undefined) return cancelListed({ ...filter, status: statuses });
  const isAny = statuses.length === UNFINISHED.length && Object.keys(rest).length > 0;
  if (isAny) return (await client.jobs.cancelAll(rest)).count;
  const counts = await Promise.all(statuses.map((status) => client.jobs.cancelAll({ ...rest, status })));
  return counts.reduce((sum, { count }) => sum + count, 0);
}

async function cancelListed(filter: JobFilter): Promise<number> {
  const ids: string[] = [];
  for await (const { id } of client.jobs.list({ ...toQuery(filter), limit: 200 })) ids.push(id);
  let told = 0;
  for (let at = 0; at < ids.length; at += AT_ONCE) told += await cancelJobs(ids.slice(at, at + AT_ONCE));
  return told;
}

function unfinishedOf({ status }: JobFilter): Unfinished[] {
  return UNFINISHED.filter((one) => status === undefined || status.includes(one));
}

export function jobQuery(id: string) {
  return queryOptions({
    queryKey: keys.jobRecord(id),
    queryFn: ({ signal }) => client.jobs.get(id, {}, { signal }),
    refetchInterval: ({ state }) =>
      state.data === undefined || isFinished(state.data) ? false : UNDER_WAY_MS,
  });
}

/** Give `live` while the job is unfinished and no stream tells of it. */
export function stepsQuery(id: string, live = false) {
  return queryOptions({
    queryKey: keys.steps(id),
    queryFn: ({ signal }) => client.jobs.steps(id, { limit: 200 }, { signal }).all(),
    refetchInterval: live ? UNDER_WAY_MS : false,
  });
}

/** What was sent never changes; what can be told of it may, when settings do. */
export function promptQuery(id: string, n: number) {
  return queryOptions({
    queryKey: keys.prompt(id, n),
    queryFn: ({ signal }) => client.jobs.prompt(id, n, { signal }),
    gcTime: 0,
  });
}
