/** `retry` by a filter: all jobs that match, newest first and page by page. Retries are newer, so none is met on the way. */
import { Option, type Command } from 'commander';
import type { Client, Json, RetriedJob, RetriedJobs, RetryFilter, RetryJobs } from '../../../client/index.ts';
import type { Cli, Common } from '../../cli.ts';
import { CommandError, EXIT, type Exit } from '../../exit.ts';
import { findContextId, findWorker } from '../../find/find.ts';
import { PAGE } from '../../find/pick.ts';
import { askLine } from '../../terminal/ask-line.ts';
import { count } from '../../terminal/time.ts';
import { given, instant, member, someOf, wholeNumber } from '../../values.ts';

const RETRIABLE = ['failed', 'incomplete', 'cancelled', 'interrupted'] as const;

/** The question counts so many jobs at most. */
const COUNTED = 1_000;

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
  yes?: true;
  limit?: number;
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
    .option('--until <time>', 'jobs created before then: a timestamp, or an age (2h)', instant(-1))
    .option('-n, --limit <n>', 'with a filter: take at most so many jobs, the newest', wholeNumber(1, 100_000))
    .option('-y, --yes', 'with a filter: do not ask for confirmation');
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

/** Exits 1 if jobs match and none of them is retried. */
export async function retryMatching(
  cli: Cli,
  client: Client,
  filter: RetryFilter,
  options: Common & FilterOptions,
): Promise<Exit> {
  const { screen } = cli;
  const isDry = options.dryRun === true;
  if (!isDry && options.yes !== true && !(await isMeant(cli, client, filter, options))) {
    screen.note('Nothing was retried.');
    return EXIT.failed;
  }
  const data: RetriedJob[] = [];
  try {
    for await (const page of pagesOf(client, { filter, dry_run: isDry }, options.limit)) {
      data.push(...page);
      if (options.json !== true) for (const job of page) screen.out(`${lineOf(job, isDry)}\n`);
    }
  } finally {
    if (options.json === true) screen.json({ data });
  }
  const retried = retriedOf(data);
  const verb = isDry ? 'would be retried' : 'retried';
  if (options.json !== true) screen.out(`${count(retried, 'job')} ${verb}, ${data.length - retried} not.\n`);
  return isDry || retried > 0 || data.length === 0 ? EXIT.completed : EXIT.failed;
}

/** `most`: so many jobs are taken at most. */
async function* pagesOf(
  client: Client,
  body: Pick<RetryJobs, 'filter' | 'dry_run'>,
  most = Infinity,
): AsyncGenerator<RetriedJob[]> {
  let cursor: string | null = null;
  let left = most;
  do {
    const asked: RetryJobs = { ...body, limit: Math.min(PAGE, left), ...(cursor !== null && { cursor }) };
    const page: RetriedJobs = await client.jobs.retryAll(asked);
    yield page.data;
    left -= page.data.length;
    cursor = page.next_cursor;
  } while (cursor !== null && left > 0);
}

/** Tells how many jobs it is about: of very many it counts the newest. */
async function isMeant(
  { screen }: Cli,
  client: Client,
  filter: RetryFilter,
  { limit = Infinity }: FilterOptions,
): Promise<boolean> {
  if (!screen.canAsk) throw new CommandError(EXIT.usage, 'Not a terminal: pass --yes to confirm.');
  const found: RetriedJob[] = [];
  for await (const page of pagesOf(client, { filter, dry_run: true }, Math.min(COUNTED, limit))) found.push(...page);
  const retriable = retriedOf(found);
  // Nothing is retried: there is nothing to confirm.
  if (retriable === 0 && found.length < COUNTED) return true;
  const more = found.length === COUNTED && limit > COUNTED ? ', and older ones that match' : '';
  const not = found.length === retriable ? '' : ` (${found.length - retriable} cannot be retried)`;
  const reply = await askLine(screen.sideInk('yellow', `Retry ${count(retriable, 'job')}${more}${not}? [y]es [n]o: `));
  return /^y(?:es)?$/i.test(reply?.trim() ?? '');
}

function retriedOf(jobs: readonly RetriedJob[]): number {
  return jobs.filter(({ error }) => error === null).length;
}

function lineOf({ id, retry_job_id, error }: RetriedJob, isDry: boolean): string {
  if (error !== null) return `${id}: ${error.code}: ${error.message}`;
  return isDry ? `${id}: would be retried` : `${id}: ${retry_job_id}`;
}
