/** Retries of several jobs, page by page: first as a dry run, which says what would happen. */
import type { RetriedJob, RetryJobs } from 'nightshift/client';
import { client } from './client.ts';
import type { JobFilter, JobStatus } from './query/keys.ts';

/** On which jobs a dialog acts. */
export type JobTarget = { kind: 'selected'; ids: readonly string[] } | { kind: 'matching'; filter: JobFilter };

/** Jobs of one request. */
const PAGE = 200;
/** A dry run looks at so many jobs. */
const MOST_LOOKED_AT = 1_000;

const RETRIABLE = ['failed', 'incomplete', 'cancelled', 'interrupted'] as const;

export function isRetriable({ status }: { status: JobStatus }): boolean {
  return RETRIABLE.some((one) => one === status);
}

/** What would happen to each job. `more`: there are jobs that were not looked at. */
export async function foreseeRetry(
  target: JobTarget,
  signal: AbortSignal,
): Promise<{ jobs: RetriedJob[]; more: boolean }> {
  const jobs: RetriedJob[] = [];
  for await (const page of pagesOf(target, true, signal)) {
    jobs.push(...page);
    if (jobs.length >= MOST_LOOKED_AT) return { jobs, more: true };
  }
  return { jobs, more: false };
}

/** `onPage`: gets what happened so far. */
export async function retryJobs(
  target: JobTarget,
  onPage: (jobs: readonly RetriedJob[]) => void,
): Promise<RetriedJob[]> {
  const jobs: RetriedJob[] = [];
  for await (const page of pagesOf(target, false)) {
    jobs.push(...page);
    onPage([...jobs]);
  }
  return jobs;
}

async function* pagesOf(target: JobTarget, dryRun: boolean, signal?: AbortSignal): AsyncGenerator<RetriedJob[]> {
  const options = signal === undefined ? {} : { signal };
  if (target.kind === 'selected') {
    for (let at = 0; at < target.ids.length; at += PAGE) {
      const ids = target.ids.slice(at, at + PAGE);
      yield (await client.jobs.retryAll({ ids, dry_run: dryRun }, options)).data;
    }
    return;
  }
  const filter = retryFilterOf(target.filter);
  if (filter === null) return;
  for (let cursor: string | undefined; ;) {
    const body: RetryJobs = { filter, limit: PAGE, dry_run: dryRun, ...(cursor !== undefined && { cursor }) };
    const page = await client.jobs.retryAll(body, options);
    yield page.data;
    if (page.next_cursor === null) return;
    cursor = page.next_cursor;
  }
}

/** Without a status: failed and incomplete jobs. Null: none of the statuses of the filter can be retried. */
function retryFilterOf(filter: JobFilter): NonNullable<RetryJobs['filter']> | null {
  const { status: statuses, sort: _, ...rest } = filter;
  if (statuses === undefined) return { ...rest, status: ['failed', 'incomplete'] };
  const status = RETRIABLE.filter((one) => statuses.includes(one));
  return status.length === 0 ? null : { ...rest, status };
}
