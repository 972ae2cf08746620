/** Retries of several jobs, page by page: first as a dry run, which says what would happen. */
import type { RetriedJob, RetryJobs } from 'nightshift/client';
import { client } from './client.ts';
import { asOfNow } from './days.ts';
import type { JobFilter, JobStatus } from './jobs/job-filter.ts';

/** On which jobs a dialog acts. `unfinished`: those of the selected ones that had not ended when the list was read. */
export type JobTarget =
  | { kind: 'selected'; ids: readonly string[]; unfinished: readonly string[] }
  | { kind: 'matching'; filter: JobFilter };

/** Where the next page begins: the index of an id, or a cursor. */
type Place = number | string;

/** `next`: null: there are no more jobs. */
export type RetriedPart = { jobs: readonly RetriedJob[]; next: Place | null };

/** Jobs of one request. */
const PAGE = 200;
/** One dry run looks at so many jobs, and reads so many pages: those of a search may be empty. */
const MOST_LOOKED_AT = 1_000;
const MOST_PAGES = 10;

const RETRIABLE = ['failed', 'incomplete', 'cancelled', 'interrupted'] as const;

export function isRetriable({ status }: { status: JobStatus }): boolean {
  return RETRIABLE.some((one) => one === status);
}

/** What would happen to the next jobs. */
export async function foreseeRetry(target: JobTarget, from: Place | null, signal: AbortSignal): Promise<RetriedPart> {
  const jobs: RetriedJob[] = [];
  let next = from;
  for (let pages = 0; pages < MOST_PAGES && jobs.length < MOST_LOOKED_AT; pages += 1) {
    const page = await readPage(target, next, true, signal);
    jobs.push(...page.jobs);
    next = page.next;
    if (next === null) break;
  }
  return { jobs, next };
}

/** `onPage`: gets what happened so far. `before`: what it got last, before an error; the retry goes on from there. */
export async function retryJobs(
  target: JobTarget,
  before: RetriedPart | null,
  onPage: (soFar: RetriedPart) => void,
): Promise<readonly RetriedJob[]> {
  let soFar: RetriedPart = before ?? { jobs: [], next: null };
  do {
    const page = await readPage(target, soFar.next, false);
    soFar = { jobs: [...soFar.jobs, ...page.jobs], next: page.next };
    onPage(soFar);
  } while (soFar.next !== null);
  return soFar.jobs;
}

async function readPage(
  target: JobTarget,
  from: Place | null,
  dryRun: boolean,
  signal?: AbortSignal,
): Promise<RetriedPart> {
  const options = signal === undefined ? {} : { signal };
  if (target.kind === 'selected') {
    const begin = typeof from === 'number' ? from : 0;
    const ids = target.ids.slice(begin, begin + PAGE);
    const { data } = await client.jobs.retryAll({ ids, dry_run: dryRun }, options);
    return { jobs: data, next: begin + PAGE < target.ids.length ? begin + PAGE : null };
  }
  const filter = retryFilterOf(target.filter);
  if (filter === null) return { jobs: [], next: null };
  const cursor = typeof from === 'string' ? { cursor: from } : {};
  const page = await client.jobs.retryAll({ filter, limit: PAGE, dry_run: dryRun, ...cursor }, options);
  return { jobs: page.data, next: page.next_cursor };
}

/** Without a status: failed and incomplete jobs. Null: none of the statuses of the filter can be retried. */
function retryFilterOf(filter: JobFilter): NonNullable<RetryJobs['filter']> | null {
  const { status: statuses, sort: _, ...rest } = asOfNow(filter);
  if (statuses === undefined) return { ...rest, status: ['failed', 'incomplete'] };
  const status = RETRIABLE.filter((one) => statuses.includes(one));
  return status.length === 0 ? null : { ...rest, status };
}
