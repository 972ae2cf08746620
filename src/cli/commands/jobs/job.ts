/** `job`: shows one job with its timeline; with --wait, after it has ended. */
import type { Command } from 'commander';
import type { Client, Job, JobStep } from '../../../client/index.ts';
import { apiCommand, carryOut, print, type Cli, type Common } from '../../cli.ts';
import { exitOf } from '../../exit.ts';
import { duration } from '../../values.ts';
import { lookOf } from '../../terminal/ink.ts';
import { oneLine, safe } from '../../terminal/safe.ts';
import { table, type Column } from '../../terminal/table.ts';
import { ago, between, money, tokensOf } from '../../terminal/time.ts';
import { whatOf } from './jobs.ts';

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
    .action((id: string, options: Options) =>
      carryOut(cli, options, async (client) => {
        const job = await read(client, id, options);
        const steps = await client.jobs.steps(id, { limit: 200 }).all();
        print(cli, options, { job, steps }, format(cli, job, steps));
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

function format({ screen }: Cli, job: Job, steps: readonly JobStep[]): string {
  const { ink } = screen;
  const line = (name: string, text: string | null): string[] =>
    text === null || text === '' ? [] : [`${ink('dim', name.padEnd(10))}${text}`];
  const lines = [
    ...line('Job', job.id),
    ...line('Status', ink(lookOf(job.status), job.status) + attempts(job)),
    ...line('Kind', `${job.kind} on ${oneLine(job.branch)}`),
    ...line('Context', job.context_id),
    ...line('Worker', job.worker_id),
    ...line('Parent', job.parent_job_id),
    ...line('Created', `${job.created_at} (${ago(job.created_at)} ago)`),
    ...line('Starts', job.starts_at),
    ...line('Waited', between(job.starts_at ?? job.created_at, job.started_at)),
    ...line('Took', between(job.started_at, job.finished_at)),
    ...line('Usage', `${tokensOf(job.usage)} tokens, ${money(job.usage.cost)}`),
    ...line('Waiting', job.waiting_for.length === 0 ? null : oneLine(whatOf({ ...job, error: null, output: null }))),
    ...line('Metadata', Object.keys(job.metadata).length === 0 ? null : oneLine(JSON.stringify(job.metadata))),
    ...line('Error', job.error === null ? null : ink('red', oneLine(`${job.error.code}: ${job.error.message}`))),
  ];
  const timeline = steps.length === 0 ? [] : ['', table(columnsOf(job), steps, ink, screen.columns).trimEnd()];
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
    },
    { title: 'TOOK', cell: ({ started_at, ended_at }) => between(started_at, ended_at) ?? '–', right: true },
    { title: 'TOKENS', cell: ({ usage }) => (usage === null ? '–' : String(tokensOf(usage))), right: true },
    { title: 'COST', cell: ({ usage }) => money(usage?.cost ?? null), right: true },
    { title: 'ERROR', cell: ({ error }) => (error === null ? '' : `${error.code}: ${error.message}`) },
  ];
}
