/** `workers`: lists workers. Subcommands act on one worker. */
import { Option, type Command } from 'commander';
import type { Operations, Worker } from '../../../client/index.ts';
import { apiCommand, carryOut, withBelow, type Cli, type Common } from '../../cli.ts';
import { pageSize, printList, type List } from '../../list.ts';
import { findWorker } from '../../find/find.ts';
import { lookOf } from '../../terminal/ink.ts';
import { ago } from '../../terminal/time.ts';
import { given, wholeNumber } from '../../values.ts';
import { showWorkerCommand } from './show-worker.ts';
import { deleteWorkerCommand, startWorkerCommand, stopWorkerCommand } from './worker-actions.ts';

type Query = NonNullable<Operations['GET /api/workers']['query']>;
type Options = Common & {
  state?: NonNullable<Query['state']>;
  role?: string;
  user?: string;
  parent?: string;
  archived?: true;
  limit: number;
};

export function workersCommand(cli: Cli): Command {
  const command = apiCommand('workers', 'list workers; show, stop, start or delete one', [
    'nightshift workers --state working',
    'nightshift workers --role support --json',
    'nightshift workers stop ada',
  ]);
  return withBelow(command, [
    showWorkerCommand(cli),
    stopWorkerCommand(cli),
    startWorkerCommand(cli),
    deleteWorkerCommand(cli),
  ])
    .addOption(
      new Option('-s, --state <state>', 'only workers in this state').choices([
        'inactive',
        'working',
        'waiting',
        'failed',
        'stopped',
      ]),
    )
    .option('-r, --role <role>', 'only workers with this role')
    .option('-u, --user <name>', 'only workers of this end user')
    .option('--parent <id|name>', 'only children of this worker')
    .option('--archived', 'list archived workers instead')
    .option('-n, --limit <n>', 'maximum number of rows', wholeNumber(1, 100_000), 20)
    .action((options: Options) =>
      carryOut(cli, options, async (client) => {
        const { state, role, user, parent, archived } = options;
        const parentId = parent === undefined ? undefined : (await findWorker(client, parent)).id;
        const filter = given({ state, role, user, parent_worker_id: parentId, archived });
        const query = { limit: pageSize(options.limit), ...filter };
        const filtered = Object.keys(filter).length > 0;
        await printList(cli, options, client.workers.list(query), { ...LIST, filtered });
      }),
    );
}

const LIST: List<Worker> = {
  none: 'No workers.',
  columns: [
    { title: 'WORKER', cell: ({ id }) => id, isId: true },
    { title: 'STATE', cell: ({ state }) => state, ink: ({ state }, text, ink) => ink(lookOf(state), text) },
    { title: 'CONTEXT', cell: ({ context_id }) => context_id, isId: true, spare: 3 },
    {
      title: 'ROLE',
      cell: ({ role, role_version }) => (role === null ? '–' : versioned(role, role_version)),
      spare: 2,
    },
    { title: 'AGE', cell: ({ created_at }) => ago(created_at), right: true, spare: 1 },
    { title: 'NAME', cell: ({ name }) => name },
  ],
};

function versioned(role: string, version: number | null): string {
  return version === null ? role : `${role} v${version}`;
}
