/** `jobs`: lists jobs, once or continuously. */
import { Option, type Command } from 'commander';
import type { Client, Job, Json, Operations } from '../../../client/index.ts';
import { apiCommand, carryOut, type Cli, type Common } from '../../cli.ts';
import { pageSize, printList, type List } from '../../list.ts';
import { findContextId, findJobId, findWorker } from '../../find/find.ts';
import { lookOf } from '../../terminal/ink.ts';
import { ago, between, money, tokensOf } from '../../terminal/time.ts';
import { duration, given, instant, member, someOf, wholeNumber } from '../../values.ts';
import { watchJobs } from './watch-jobs.ts';

const STATUSES: readonly Job['status'][] = [
  'delayed',
  'queued',
  'running',
  'waiting',
  'completed',
  'incomplete',
  'failed',
  'cancelled',
  'interrupted',
];

type Query = NonNullable<Operations['GET /api/jobs']['query']>;
type Options = Common & {
  status?: Job['status'][];
  kind?: NonNullable<Query['kind']>;
  role?: string;
  user?: string;
  metadata?: { [key: string]: Json };
  context?: string;
  worker?: string;
  parent?: string;
  since?: string;
  limit: number;
  watch?: true;
  interval: number;
};

export function jobsCommand(cli: Cli): Command {
  return apiCommand('jobs', 'list jobs, newest first', [
    'nightshift jobs --status failed,incomplete',
    'nightshift jobs --worker ada --since 1d',
    'nightshift jobs --role support --metadata batch=7',
    'nightshift jobs --watch',
    "nightshift jobs --status failed --limit 1000 --json | jq -r '.data[].id'",
  ])
    .addOption(statusOption())
    .option('-c, --context <id>', 'only jobs of this context')
    .option('-w, --worker <id|name>', 'only jobs of this worker')
    .option('-r, --role <role>', 'only jobs of workers with this role')
    .option('-u, --user <name>', 'only jobs on behalf of this end user')
    .addOption(new Option('-k, --kind <kind>', 'only jobs of this kind').choices(['input', 'retry', 'compact']))
    .option('--metadata <name=value>', 'only jobs with this metadata; may be repeated', member)
    .option('--parent <job>', 'only child jobs of this job')
    .option('--since <time>', 'only jobs created since then: a timestamp, or an age (2h)', instant(-1))
    .option('-n, --limit <n>', 'maximum number of rows', wholeNumber(1, 100_000), 20)
    .option('--watch', 'refresh until Ctrl-C; with --json, print one line for each changed job')
    .option('--interval <time>', 'refresh interval of --watch', duration, 2_000)
    .action((options: Options) =>
      carryOut(cli, options, async (client) => {
        const query = await queryOf(client, options);
        const list = { ...LIST, filtered: Object.keys(query).length > 1 };
        if (options.watch === true) return watchJobs(cli, client, query, { ...options, list });
        return printList(cli, options, client.jobs.list(query), list);
      }),
    );
}

/** Takes several, and completes them. */
function statusOption(): Option {
  const option = new Option('-s, --status <statuses>', 'only jobs with one of these; may be repeated');
  option.argParser(someOf(STATUSES));
  option.argChoices = [...STATUSES];
  return option;
}

async function queryOf(client: Client, options: Options): Promise<Query> {
  const { limit, status, context, worker, role, user, kind, metadata, parent, since } = options;
  return {
    limit: pageSize(limit),
    ...given({
      status,
      context_id: context === undefined ? undefined : await findContextId(client, context),
      worker_id: worker === undefined ? undefined : (await findWorker(client, worker)).id,
      role,
      user,
      kind,
      metadata: metadata === undefined ? undefined : JSON.stringify(metadata),
      parent_job_id: parent === undefined ? undefined : await findJobId(client, parent),
      created_after: since,
    }),
  };
}

const LIST: List<Job> = {
  none: 'No jobs.',
  columns: [
    { title: 'JOB', cell: ({ id }) => id, isId: true },
    {
      title: 'STATUS',
      cell: ({ status }) => status,
      ink: ({ status }, text, ink) => ink(lookOf(status), text),
    },
    { title: 'WORKER', cell: ({ worker_name }) => worker_name, most: 24, spare: 2 },
    { title: 'KIND', cell: ({ kind }) => kind, spare: 5 },
    { title: 'AGE', cell: ({ created_at }) => ago(created_at), right: true, spare: 1 },
    {
      title: 'TOOK',
      cell: ({ started_at, finished_at }) => between(started_at, finished_at) ?? '–',
      right: true,
      spare: 4,
    },
    { title: 'TOKENS', cell: ({ usage }) => String(tokensOf(usage)), right: true, spare: 6 },
    { title: 'COST', cell: ({ usage }) => money(usage.cost), right: true, spare: 3 },
    { title: 'WHAT', cell: aboutOf },
  ],
};

/** What came of it so far; without anything, its input. */
export function aboutOf(job: Job): string {
  return whatOf(job) || (job.input?.text ?? '');
}

/** A summary of its error, its output, when it starts, or what it waits for. */
export function whatOf({ status, starts_at, waiting_for, error, output }: Job): string {
  if (error !== null) return `${error.code}: ${error.message}`;
  if (output !== null) return output.text;
  if (status === 'delayed' && starts_at !== null) return `starts at ${starts_at}`;
  return waiting_for
    .map(({ kind, name, until }) =>
      ['waits for', kind, name, until === undefined ? '' : `until ${until}`].filter(Boolean).join(' '),
    )
    .join(', ');
}
