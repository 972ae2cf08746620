/** `retry` by a filter: all jobs that match, newest first and page by page. Retries are newer, so none is met on the way. */
import { Option, type Command } from 'commander';
import type { Client, Json, RetriedJob, RetryFilter } from '../../../client/index.ts';
import type { Cli, Common } from '../../cli.ts';
import { findContextId, findWorker } from '../../find/find.ts';
import { count } from '../../terminal/time.ts';
import { given, instant, member, someOf } from '../../values.ts';

const RETRIABLE = ['failed', 'incomplete', 'cancelled', 'interrupted'] as const;

export type FilterOptions = {
  status?: (typeof RETRIABLE)[number][];
  context?: string;
  worker?: string;
  role?: string;
  user?: string;
  kind?: NonNullable<RetryFilter['kind']>;
  metadata?: { [key: string]: Json };
  since?: string;
  until?: string;
  dryRun?: true;
};

export function retryFilter(command: Command): Command {
  const status = new Option('-s, --status <statuses>', 'jobs with one of these; may be repeated');
  status.argParser(someOf(RETRIABLE));
  status.argChoices = [...RETRIABLE];
  return command
    .addOption(status)
    .option('-c, --context <id>', 'jobs of this context')
    .option('-w, --worker <id|name>', 'jobs of this worker')
    .option('-r, --role <role>', 'jobs of workers with this role')
    .option('-u, --user <name>', 'jobs on behalf of this end user')
    .addOption(new Option('-k, --kind <kind>', 'jobs of this kind').choices(['input', 'retry']))
    .option('--metadata <name=value>', 'jobs with this metadata; may be repeated', member)
    .option('--since <time>', 'jobs created since then: a timestamp, or an age (2h)', instant(-1))
    .option('--until <time>', 'jobs created before then: a timestamp, or an age (2h)', instant(-1));
}

/** Empty: no filter is given. Without a status the API takes failed and incomplete jobs. */
export async function filterOf(client: Client, options: FilterOptions): Promise<RetryFilter> {
  const { status, context, worker, role, user, kind, metadata, since, until } = options;
  return given({
    status,
    context_id: context === undefined ? undefined : await findContextId(client, context),
    worker_id: worker === undefined ? undefined : (await findWorker(client, worker)).id,
    role,
    user,
    kind,
    metadata,
    created_after: since,
    created_before: until,
  });
}

export async function retryMatching(
  { screen }: Cli,
  client: Client,
  filter: RetryFilter,
  options: Common & FilterOptions,
): Promise<void> {
  const data: RetriedJob[] = [];
  const isDry = options.dryRun === true;
  let cursor: string | null = null;
  try {
    do {
      const page: Awaited<ReturnType<Client['jobs']['retryAll']>> = await client.jobs.retryAll({
        filter,
        dry_run: isDry,
        ...(cursor !== null && { cursor }),
      });
      data.push(...page.data);
      if (options.json !== true) for (const job of page.data) screen.out(`${lineOf(job, isDry)}\n`);
      cursor = page.next_cursor;
    } while (cursor !== null);
  } finally {
    if (options.json === true) screen.json({ data });
  }
  const retried = data.filter(({ error }) => error === null).length;
  const verb = isDry ? 'would be retried' : 'retried';
  if (options.json !== true) screen.out(`${count(retried, 'job')} ${verb}, ${data.length - retried} not.\n`);
}

function lineOf({ id, retry_job_id, error }: RetriedJob, isDry: boolean): string {
  if (error !== null) return `${id}: ${error.code}: ${error.message}`;
  return isDry ? `${id}: would be retried` : `${id}: ${retry_job_id}`;
}
