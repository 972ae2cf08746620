/** Retries of several jobs, page by page: first as a dry run, which says what would happen. */
import type { Client, RequestOptions, RetriedJob, RetryJobs } from 'nightshift/client';
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

/**
 * A retry, with what happened so far. Each page has a key of its own, which stays the same when the page is sent again
 * after an error: then its jobs are not chosen again, and the answer tells what happened to each.
 */
export type Retry = RetriedPart & { key: string; about: About; pages: number };

/** The jobs, and for a filter its range as of the beginning: the filter of a cursor must not move with the time. */
type About = { kind: 'selected'; ids: readonly string[] } | { kind: 'matching'; filter: RetryFilter | null };
type RetryFilter = NonNullable<RetryJobs['filter']>;

/** Jobs of one request. */
const PAGE = 200;
/** One dry run looks at so many jobs, and reads so many pages: those of a search may be empty. */
const MOST_LOOKED_AT = 1_000;
const MOST_PAGES = 10;

const RETRIABLE = ['failed', 'incomplete', 'cancelled', 'interrupted'] as const;

export function isRetriable({ status }: { status: JobStatus }): boolean {
  return RETRIABLE.some((one) => one === status);
}

export function beginRetry(target: JobTarget): Retry {
  // `crypto.randomUUID` is not available on pages without TLS.
  const key = crypto.getRandomValues(new Uint32Array(4)).join('-');
  const about: About =
    target.kind === 'selected' ? target : { kind: 'matching', filter: retryFilterOf(asOfNow(target.filter)) };
  return { key, about, pages: 0, jobs: [], next: null };
}

/** What would happen to the next jobs. */
export async function foreseeRetry(
  client: Client,
  { about }: Retry,
  from: Place | null,
  signal: AbortSignal,
): Promise<RetriedPart> {
  const jobs: RetriedJob[] = [];
  let next = from;
  for (let pages = 0; pages < MOST_PAGES && jobs.length < MOST_LOOKED_AT; pages += 1) {
    const page = await readPage(client, { about, from: next, dryRun: true }, { signal });
    jobs.push(...page.jobs);
    next = page.next;
    if (next === null) break;
  }
  return { jobs, next };
}

/** `onPage`: gets what happened so far. After an error call it again with what that got last: it goes on from there. */
export async function retryJobs(
  client: Client,
  before: Retry,
  onPage: (soFar: Retry) => void,
): Promise<readonly RetriedJob[]> {
  let soFar = before;
  do {
    const { key, about, pages, jobs, next } = soFar;
    const page = await readPage(client, { about, from: next, dryRun: false }, { idempotencyKey: `${key}-${pages}` });
    soFar = { key, about, pages: pages + 1, jobs: [...jobs, ...page.jobs], next: page.next };
    onPage(soFar);
  } while (soFar.next !== null);
  return soFar.jobs;
}

type Page = { about: About; from: Place | null; dryRun: boolean };

async function readPage(client: Client, { about, from, dryRun }: Page, options: RequestOptions): Promise<RetriedPart> {
  if (about.kind === 'selected') {
    const begin = typeof from === 'number' ? from : 0;
    const ids = about.ids.slice(begin, begin + PAGE);
    const { data } = await client.jobs.retryAll({ ids, dry_run: dryRun }, options);
    return { jobs: data, next: begin + PAGE < about.ids.length ? begin + PAGE : null };
  }
  const { filter } = about;
  if (filter === null) return { jobs: [], next: null };
  const cursor = typeof from === 'string' ? { cursor: from } : {};
  const page = await client.jobs.retryAll({ filter, limit: PAGE, dry_run: dryRun, ...cursor }, options);
  return { jobs: page.data, next: page.next_cursor };
}

/** Without a status: failed and incomplete jobs. Null: none of the statuses of the filter can be retried. */
function retryFilterOf(filter: Omit<JobFilter, 'within_ms'>): RetryFilter | null {
  const { status: statuses, sort: _, ...rest } = filter;
  if (statuses === undefined) return { ...rest, status: ['failed', 'incomplete'] };
  const status = RETRIABLE.filter((one) => statuses.includes(one));
  return status.length === 0 ? null : { ...rest, status };
}
