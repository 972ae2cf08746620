/** `jobs`: lists jobs, once or continuously. */
import { Option, type Command } from 'commander';
import { setTimeout } from 'node:timers/promises';
import type { Client, Job, Json, Operations } from '../../../client/index.ts';
import { apiCommand, carryOut, type Cli, type Common } from '../../cli.ts';
import { first, listText, pageSize, printList, type List } from '../../list.ts';
import type { Exit } from '../../exit.ts';
import { findContextId, findJobId, findWorker } from '../../find/find.ts';
import { untilCtrlC } from '../../signals-of-person.ts';
import { openLiveView } from '../../terminal/live-view.ts';
import { lookOf } from '../../terminal/ink.ts';
import { ago, between, money, tokensOf } from '../../terminal/time.ts';
import { duration, given, instant, member, someOf, wholeNumber } from '../../values.ts';

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
        const filtered = Object.keys(query).length > 1;
        if (options.watch === true) return watch(cli, client, query, { ...options, filtered });
        return printList(cli, options, client.jobs.list(query), { ...LIST, filtered });
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

type Watched = Options & { filtered: boolean };

async function watch(cli: Cli, client: Client, query: Query, options: Watched): Promise<Exit> {
  const { interval, limit, json } = options;
  const show =
    json === true ? changedJobs(cli) : cli.screen.isTerminal ? liveList(cli, options) : changedList(cli, options);
  try {
    return await untilCtrlC(async (signal) => {
      while (!signal.aborted) {
        const jobs = await first(client.jobs.list(query, { signal }), limit).catch((error: unknown) => {
          if (signal.aborted) return null;
          throw error;
        });
        if (jobs !== null) show.jobs(jobs);
        await setTimeout(interval, null, { signal }).catch(() => undefined);
      }
    });
  } finally {
    show.end();
  }
}

type Show = { jobs(jobs: readonly Job[]): void; end(): void };

/** Draws the list in place, and leaves the last one on the screen. */
function liveList(cli: Cli, { filtered }: Watched): Show {
  const view = openLiveView(cli.screen);
  let text = (): string => '';
  return {
    jobs(jobs) {
      text = () => listText(cli, jobs, { ...LIST, filtered });
      view.show(text);
    },
    end() {
      view.close();
      cli.screen.out(text());
    },
  };
}

/** Prints the list each time that it changed. */
function changedList(cli: Cli, { filtered }: Watched): Show {
  let before = '';
  return {
    jobs(jobs) {
      const now = JSON.stringify(jobs);
      if (now !== before) cli.screen.out(listText(cli, jobs, { ...LIST, filtered }));
      before = now;
    },
    end: () => undefined,
  };
}

/** Prints each job as a line, each time that it changed. */
function changedJobs(cli: Cli): Show {
  const printed = new Map<string, string>();
  return { jobs: (jobs) => printChanged(cli, jobs, printed), end: () => undefined };
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
    { title: 'JOB', cell: ({ id }) => id, isId: true },
    {
      title: 'STATUS',
      cell: ({ status }) => status,
      ink: ({ status }, text, ink) => ink(lookOf(status), text),
    },
    { title: 'KIND', cell: ({ kind }) => kind, spare: 4 },
    { title: 'AGE', cell: ({ created_at }) => ago(created_at), right: true, spare: 1 },
    {
      title: 'TOOK',
      cell: ({ started_at, finished_at }) => between(started_at, finished_at) ?? '–',
      right: true,
      spare: 3,
    },
    { title: 'TOKENS', cell: ({ usage }) => String(tokensOf(usage)), right: true, spare: 5 },
    { title: 'COST', cell: ({ usage }) => money(usage.cost), right: true, spare: 2 },
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
