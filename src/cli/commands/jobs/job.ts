/** `job`: shows one job with its timeline; with --wait, after it has ended. */
import type { Command } from 'commander';
import type { Client, Job, JobStep, Message } from '../../../client/index.ts';
import { apiCommand, carryOut, print, type Cli, type Common } from '../../cli.ts';
import { exitOf } from '../../exit.ts';
import { duration } from '../../values.ts';
import { fields } from '../../terminal/fields.ts';
import { lookOf } from '../../terminal/ink.ts';
import { oneLine, safe } from '../../terminal/safe.ts';
import { table, type Column } from '../../terminal/table.ts';
import { ago, between, money, tokensOf } from '../../terminal/time.ts';
import { findJobId } from '../../find/find.ts';
import { cut } from '../../terminal/width.ts';
import { inputOf, inputText } from './job-input.ts';
import { whatOf } from './jobs.ts';

/** The whole input is in --json. */
const INPUT_COLUMNS = 500;

type Options = Common & { wait?: true; timeout?: number };

export function jobCommand(cli: Cli): Command {
  return apiCommand('job', 'show a job: status, timeline, answer', [
    'nightshift job 0199…',
    'nightshift job 0199… --wait && echo completed',
    'nightshift job 0199… --json | jq .steps',
  ])
    .argument('<job>', 'id of the job')
    .option('--wait', 'wait until the job has ended, and exit with its result')
    .option('--timeout <time>', 'stop waiting after this time, with exit code 3', duration)
    .action((named: string, options: Options) =>
      carryOut(cli, options, async (client) => {
        const id = await findJobId(client, named);
        const job = await read(client, id, options);
        const [steps, input] = await Promise.all([
          client.jobs.steps(id, { limit: 200 }).all(),
          inputOf(client, job.context_id, job.input?.message_id ?? null),
        ]);
        print(cli, options, { job, steps, input }, format(cli, { job, steps, input }));
        return options.wait === true ? exitOf(job.status) : undefined;
      }),
    );
}

async function read(client: Client, id: string, { wait, timeout }: Options): Promise<Job> {
  if (wait !== true) return client.jobs.get(id);
  // An unknown id fails at once instead of after the wait.
  await client.jobs.get(id);
  return client.jobs.wait(id, timeout === undefined ? {} : { timeoutMs: timeout });
}

type Shown = { job: Job; steps: readonly JobStep[]; input: Message | null };

function format({ screen }: Cli, { job, steps, input }: Shown): string {
  const { ink } = screen;
  const lines = fields(ink, [
    ['Job', job.id],
    ['Status', ink(lookOf(job.status), job.status) + attempts(job)],
    ['Kind', `${job.kind} on ${oneLine(job.branch)}`],
    ['Context', job.context_id],
    ['Worker', `${oneLine(job.worker_name)} ${job.worker_id}`],
    ['Role', job.role === null ? null : oneLine(job.role)],
    ['Model', job.model],
    ['User', job.user === null ? null : oneLine(job.user)],
    ['Parent', job.parent_job_id],
    ['Input', input === null ? null : cut(inputText(input), INPUT_COLUMNS)],
    ['Created', `${job.created_at} (${ago(job.created_at)} ago)`],
    ['Starts', job.starts_at],
    ['Waited', between(job.starts_at ?? job.created_at, job.started_at)],
    ['Took', between(job.started_at, job.finished_at)],
    ['Usage', `${tokensOf(job.usage)} tokens, ${money(job.usage.cost)}`],
    ['Waiting', job.waiting_for.length === 0 ? null : oneLine(whatOf({ ...job, error: null, output: null }))],
    ['Metadata', Object.keys(job.metadata).length === 0 ? null : oneLine(JSON.stringify(job.metadata))],
    ['Error', job.error === null ? null : ink('red', oneLine(`${job.error.code}: ${job.error.message}`))],
  ]);
  const timeline =
    steps.length === 0 ? [] : ['', table(columnsOf(job), steps, { ink, screen: screen.columns }).trimEnd()];
  const output = job.output === null ? [] : ['', safe(job.output.text)];
  return `${[...lines, ...timeline, ...output].join('\n')}\n`;
}

function attempts({ attempt, retry_at }: Job): string {
  const again = retry_at === null ? '' : `, next attempt at ${retry_at}`;
  return `${attempt > 1 ? `, attempt ${attempt}` : ''}${again}`;
}

function columnsOf({ created_at }: Job): readonly Column<JobStep>[] {
  return [
    { title: 'AT', cell: ({ started_at }) => `+${between(created_at, started_at) ?? ''}`, right: true },
    { title: 'STEP', cell: ({ kind, name }) => `${kind} ${name}` },
    { title: 'STATUS', cell: ({ status }) => status, ink: ({ status }, text, ink) => ink(lookOf(status), text) },
    {
      title: 'FIRST',
      cell: ({ started_at, first_token_at }) => between(started_at, first_token_at) ?? '–',
      right: true,
      spare: 2,
    },
    { title: 'TOOK', cell: ({ started_at, ended_at }) => between(started_at, ended_at) ?? '–', right: true },
    { title: 'TOKENS', cell: ({ usage }) => (usage === null ? '–' : String(tokensOf(usage))), right: true, spare: 1 },
    { title: 'COST', cell: ({ usage }) => money(usage?.cost ?? null), right: true, spare: 3 },
    { title: 'ERROR', cell: ({ error }) => (error === null ? '' : `${error.code}: ${error.message}`) },
  ];
}
