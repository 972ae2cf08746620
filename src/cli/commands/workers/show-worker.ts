/** `workers show`: one worker with its settings and its newest jobs. */
import type { Command } from 'commander';
import type { Context, Job, Worker } from '../../../client/index.ts';
import { apiCommand, carryOut, print, type Cli, type Common } from '../../cli.ts';
import { findWorker } from '../../find/find.ts';
import { listText, type List } from '../../list.ts';
import { fields } from '../../terminal/fields.ts';
import { lookOf } from '../../terminal/ink.ts';
import { oneLine } from '../../terminal/safe.ts';
import { ago, between, count, money, tokensOf } from '../../terminal/time.ts';
import { cut } from '../../terminal/width.ts';
import { aboutOf } from '../jobs/jobs.ts';

const JOBS = 5;
/** The whole prompt is in --json. */
const PROMPT_COLUMNS = 300;

export function showWorkerCommand(cli: Cli): Command {
  return apiCommand('show', 'show one worker: state, settings, context, newest jobs', [
    'nightshift workers show ada',
    'nightshift workers show 0199… --json | jq .worker.config',
  ])
    .argument('<worker>', 'id or name of the worker')
    .action((named: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const worker = await findWorker(client, named);
        const [context, jobs] = await Promise.all([
          client.contexts.get(worker.context_id),
          client.jobs.list({ context_id: worker.context_id, limit: JOBS }).page(),
        ]);
        const shown = { worker, context, jobs: jobs.data };
        print(cli, options, shown, format(cli, shown));
      }),
    );
}

type Shown = { worker: Worker; context: Context; jobs: readonly Job[] };

function format(cli: Cli, { worker, context, jobs }: Shown): string {
  const { ink } = cli.screen;
  const { config, last_failure: failure } = worker;
  const lines = fields(ink, [
    ['Worker', `${oneLine(worker.name)} ${worker.id}`],
    ['State', ink(lookOf(worker.state), worker.state)],
    ['Failure', failure === null ? null : ink('red', oneLine(`${failure.code}: ${failure.message}`))],
    ['Role', worker.role === null ? null : oneLine(worker.role) + versionOf(worker)],
    ['Model', config.model ?? null],
    ['Tools', [...(config.tools ?? []), ...(config.mcp_servers ?? []).map((one) => `${one}__*`)].join(', ')],
    ['Prompt', config.system_prompt === undefined ? null : cut(oneLine(config.system_prompt), PROMPT_COLUMNS)],
    ['User', worker.user === null ? null : oneLine(worker.user)],
    ['Parent', worker.parent_worker_id],
    ['Context', `${worker.context_id} ${context.state}, ${count(context.turn_count, 'turn')}`],
    ['Usage', `${tokensOf(context.usage)} tokens, ${money(context.usage.cost)}`],
    ['Created', `${worker.created_at} (${ago(worker.created_at)} ago)`],
  ]);
  return `${lines.join('\n')}\n\n${listText(cli, jobs, NEWEST)}`;
}

function versionOf({ role_version }: Worker): string {
  return role_version === null ? '' : ` v${role_version}`;
}

const NEWEST: List<Job> & { filtered: true } = {
  filtered: true,
  none: 'No jobs.',
  columns: [
    { title: 'JOB', cell: ({ id }) => id, isId: true },
    { title: 'STATUS', cell: ({ status }) => status, ink: ({ status }, text, ink) => ink(lookOf(status), text) },
    { title: 'AGE', cell: ({ created_at }) => ago(created_at), right: true, spare: 1 },
    {
      title: 'TOOK',
      cell: ({ started_at, finished_at }) => between(started_at, finished_at) ?? '–',
      right: true,
      spare: 2,
    },
    { title: 'WHAT', cell: aboutOf },
  ],
};
