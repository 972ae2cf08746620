/** `jobs`: lists jobs, once or continuously. */
import { Option, type Command } from 'commander';
import { setTimeout } from 'node:timers/promises';
import type { Client, Job, Json, Operations } from '../../../client/index.ts';
import { apiCommand, carryOut, first, listText, printList, type Cli, type Common, type List } from '../../cli.ts';
import type { Exit } from '../../exit.ts';
import { findWorker } from '../../find.ts';
import { untilCtrlC } from '../../signals-of-person.ts';
import { lookOf } from '../../terminal/ink.ts';
import { ago, between, money, tokensOf } from '../../terminal/time.ts';
import { duration, given, instant, member, wholeNumber } from '../../values.ts';

const STATUSES = [
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
const CLEAR_SCREEN = '\u001b[H\u001b[2J';

type Query = NonNullable<Operations['GET /api/jobs']['query']>;
type Options = Common & {
  status?: NonNullable<Query['status']>;
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
    'nightshift jobs --status running',
    'nightshift jobs --worker ada --since 1d',
    'nightshift jobs --role support --metadata batch=7',
    'nightshift jobs --watch',
    "nightshift jobs --status failed --limit 1000 --json | jq -r '.data[].id'",
  ])
    .addOption(new Option('-s, --status <status>', 'only jobs with this status').choices(STATUSES))
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
        if (options.watch === true) return watch(cli, client, query, options);
        return printList(cli, options, client.jobs.list(query), LIST);
      }),
    );
}

async function queryOf(client: Client, options: Options): Promise<Query> {
  const { limit, status, context, worker, role, user, kind, metadata, parent, since } = options;
  return {
    limit: Math.min(limit, 200),
    ...given({
      status,
      context_id: context,
      worker_id: worker === undefined ? undefined : (await findWorker(client, worker)).id,
      role,
      user,
      kind,
      metadata: metadata === undefined ? undefined : JSON.stringify(metadata),
      parent_job_id: parent,
      created_after: since,
    }),
  };
}

async function watch(cli: Cli, client: Client, query: Query, options: Options): Promise<Exit> {
  const printed = new Map<string, string>();
  return untilCtrlC(async (signal) => {
    for (let before = ''; !signal.aborted;) {
      const jobs = await first(client.jobs.list(query), options.limit);
      if (options.json === true) printChanged(cli, jobs, printed);
      else {
        const now = JSON.stringify(jobs);
        if (cli.screen.isTerminal) cli.screen.out(CLEAR_SCREEN + listText(cli, jobs, LIST));
        else if (now !== before) cli.screen.out(listText(cli, jobs, LIST));
        before = now;
      }
      await setTimeout(options.interval, null, { signal }).catch(() => undefined);
    }
  });
}

function printChanged(cli: Cli, jobs: readonly Job[], printed: Map<string, string>): void {
  for (const job of jobs.toReversed()) {
    const text = JSON.stringify(job);
    if (printed.get(job.id) === text) continue;
    printed.set(job.id, text);
    cli.screen.jsonLine(job);
  }
}

const LIST: List<Job> = {
  none: 'No jobs.',
  columns: [
    { title: 'JOB', cell: ({ id }) => id },
    {
      title: 'STATUS',
      cell: ({ status }) => status,
      ink: ({ status }, text, ink) => ink(lookOf(status), text),
    },
    { title: 'KIND', cell: ({ kind }) => kind },
    { title: 'AGE', cell: ({ created_at }) => ago(created_at), right: true },
    {
      title: 'TOOK',
      cell: ({ started_at, finished_at }) => between(started_at, finished_at) ?? '–',
      right: true,
    },
    { title: 'TOKENS', cell: ({ usage }) => String(tokensOf(usage)), right: true },
    { title: 'COST', cell: ({ usage }) => money(usage.cost), right: true },
    { title: 'WHAT', cell: whatOf },
  ],
};

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
