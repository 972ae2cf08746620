/** `ps`: lists the worker processes of the installation. Subcommands pause, resume and drain one. For the operator. */
import type { Command } from 'commander';
import { NightshiftError, type Client, type RequestedProcess, type WorkerProcess } from '../../../client/index.ts';
import { apiCommand, carryOut, print, withBelow, type Cli, type Common } from '../../cli.ts';
import { CommandError, EXIT, type Exit } from '../../exit.ts';
import { PAGE, pickId } from '../../find/pick.ts';
import { pageSize, printList, type List } from '../../list.ts';
import { askLine } from '../../terminal/ask-line.ts';
import { ago } from '../../terminal/time.ts';
import { wholeNumber } from '../../values.ts';

type Listed = Common & { all?: boolean; limit: number };

export function psCommand(cli: Cli): Command {
  const command = apiCommand(
    'ps',
    'list worker processes and how busy they are; pause, resume or drain one (operator)',
    [
      'nightshift ps',
      'nightshift ps --all',
      "nightshift ps --json | jq '.data[] | {host, running}'",
      'nightshift ps pause 9f3c01d2',
    ],
  )
    .option('--all', 'also those that ended in the last 7 days')
    .option('-n, --limit <n>', 'maximum number of rows', wholeNumber(1, 10_000), 100);
  return withBelow(command, [
    actionCommand(cli, {
      name: 'pause',
      summary: 'let a worker process begin no run until it is resumed; its runs go on',
      act: (client, id) => client.processes.pause(id),
      done: 'begins no run until it is resumed',
    }),
    actionCommand(cli, {
      name: 'resume',
      summary: 'let a paused worker process begin runs again',
      act: (client, id) => client.processes.resume(id),
      done: 'begins runs again',
    }),
    drainCommand(cli),
  ]).action((options: Listed) =>
    carryOut(cli, options, async (client) => {
      const query = { limit: pageSize(options.limit), ...(options.all === true ? {} : { live: true }) };
      await asOperator(() => printList(cli, options, client.processes.list(query), LIST));
    }),
  );
}

type Action = {
  name: string;
  summary: string;
  act: (client: Client, id: string) => Promise<RequestedProcess>;
  /** What the process does now. */
  done: string;
};

function actionCommand(cli: Cli, { name, summary, act, done }: Action): Command {
  return apiCommand(name, summary, [`nightshift ps ${name} 9f3c01d2`])
    .argument('<id>', 'the worker process, or a part of its id')
    .action((named: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const id = await asOperator(() => findProcessId(client, named));
        printAsked(cli, options, await asOperator(() => act(client, id)), done);
      }),
    );
}

function drainCommand(cli: Cli): Command {
  return apiCommand('drain', 'let a worker process release its runs for other processes, and end', [
    'nightshift ps drain 9f3c01d2        # asks for confirmation',
    'nightshift ps drain 9f3c01d2 --yes',
  ])
    .argument('<id>', 'the worker process, or a part of its id')
    .option('-y, --yes', 'do not ask for confirmation')
    .action((named: string, options: Common & { yes?: true }) =>
      carryOut(cli, options, async (client): Promise<Exit> => {
        const id = await asOperator(() => findProcessId(client, named));
        if (options.yes !== true && !(await isMeant(cli, id))) {
          cli.screen.note('Nothing was drained.');
          return EXIT.failed;
        }
        const asked = await asOperator(() => client.processes.drain(id));
        printAsked(cli, options, asked, 'releases its runs, and then ends');
        return EXIT.completed;
      }),
    );
}

async function isMeant({ screen }: Cli, id: string): Promise<boolean> {
  if (!screen.canAsk) throw new CommandError(EXIT.usage, 'Not a terminal: pass --yes to confirm.');
  const question = `Drain the worker process ${id}? Other processes continue its runs. This cannot be undone. [y]es [n]o: `;
  const reply = await askLine(screen.sideInk('yellow', question));
  return /^y(?:es)?$/i.test(reply?.trim() ?? '');
}

function printAsked(cli: Cli, options: Common, asked: RequestedProcess, done: string): void {
  print(cli, options, asked, `The worker process ${asked.id} ${done}. It follows within about a second.\n`);
}

function findProcessId(client: Client, named: string): Promise<string> {
  return pickId(named, {
    one: 'worker process',
    where: 'those that are alive',
    lists: '`nightshift ps --json`',
    rows: () => client.processes.list({ limit: PAGE, live: true }),
    idOf: ({ id }) => id,
    about: ({ host, pid }) => `${host}, pid ${pid}`,
  });
}

/** Others get a message that names what they lack. */
async function asOperator<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof NightshiftError && error.code === 'forbidden' ? NOT_OPERATOR : error;
  }
}

const NOT_OPERATOR = new CommandError(
  EXIT.failed,
  'Only the operator sees worker processes. Set NIGHTSHIFT_API_KEY to the admin key, or run nightshift login with it.',
);

const LIST: List<WorkerProcess> = {
  none: 'No worker process is alive: jobs wait. Start one with nightshift worker.',
  columns: [
    { title: 'HOST', cell: ({ host }) => host },
    { title: 'PID', cell: ({ pid }) => String(pid), right: true },
    { title: 'STATUS', cell: statusText },
    { title: 'RUNNING', cell: ({ running, concurrency }) => `${running} of ${concurrency ?? '–'}`, right: true },
    { title: 'UP', cell: ({ started_at }) => ago(started_at), right: true },
    { title: 'SEEN', cell: ({ heartbeat_at }) => `${ago(heartbeat_at)} ago`, right: true, spare: 2 },
    { title: 'VERSION', cell: ({ version }) => version, spare: 3 },
    { title: 'PROCESS', cell: ({ id }) => id },
    { title: 'SERVES', cell: ({ providers, mcp_servers }) => [...providers, ...mcp_servers].join(' '), spare: 1 },
  ],
};

/** With what was asked of it, until it does it. */
function statusText({ status, requested_status: requested, ended_at: endedAt }: WorkerProcess): string {
  const isSettled = endedAt !== null || status === 'draining' || status === requested;
  return isSettled ? status : `${status}, will be ${requested}`;
}
