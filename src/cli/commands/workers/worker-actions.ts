/** Subcommands of `workers`: stop, start and delete one worker. */
import type { Command } from 'commander';
import type { Worker, WorkerTreeNode } from '../../../client/index.ts';
import { apiCommand, carryOut, print, type Cli, type Common } from '../../cli.ts';
import { CommandError, EXIT, type Exit } from '../../exit.ts';
import { findWorker } from '../../find/find.ts';
import { askLine } from '../../terminal/ask-line.ts';
import { oneLine } from '../../terminal/safe.ts';
import { count } from '../../terminal/time.ts';

export function stopWorkerCommand(cli: Cli): Command {
  const summary = 'stop a worker and its descendants: cancel their jobs and refuse input until started again';
  return switchCommand(cli, 'stop', summary, 'and its descendants are stopped');
}

export function startWorkerCommand(cli: Cli): Command {
  const summary = 'start a stopped worker and its stopped descendants again';
  return switchCommand(cli, 'start', summary, 'and its descendants accept input again');
}

function switchCommand(cli: Cli, name: 'stop' | 'start', summary: string, what: string): Command {
  return apiCommand(name, summary, [`nightshift workers ${name} ada`])
    .argument('<worker>', 'id or name of the worker')
    .action((named: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const { id } = await findWorker(client, named);
        printWorker(cli, options, await client.workers[name](id), what);
      }),
    );
}

function printWorker(cli: Cli, options: Common, worker: Worker, what: string): void {
  print(cli, options, worker, `${oneLine(worker.name)} ${what}.\n`);
}

export function deleteWorkerCommand(cli: Cli): Command {
  return apiCommand('delete', 'delete a worker, its descendants and all their messages permanently', [
    'nightshift workers delete ada             # asks for confirmation',
    'nightshift workers delete 0199… --yes',
  ])
    .argument('<worker>', 'id or name of the worker')
    .option('-y, --yes', 'do not ask for confirmation')
    .action((named: string, options: Common & { yes?: true }) =>
      carryOut(cli, options, async (client): Promise<Exit> => {
        const worker = await findWorker(client, named);
        if (options.yes !== true) {
          const { children, truncated } = await client.workers.tree(worker.id);
          if (!(await isMeant(cli, worker, countOf(children), truncated))) {
            cli.screen.note('Nothing was deleted.');
            return EXIT.failed;
          }
        }
        await client.workers.delete(worker.id);
        printWorker(cli, options, worker, 'was deleted');
        return EXIT.completed;
      }),
    );
}

async function isMeant({ screen }: Cli, worker: Worker, below: number, isMore: boolean): Promise<boolean> {
  if (!screen.canAsk) throw new CommandError(EXIT.usage, 'Not a terminal: pass --yes to confirm.');
  const others = below === 0 ? '' : ` and ${count(below, 'descendant worker')}${isMore ? ' or more' : ''}`;
  const question = `Delete ${oneLine(worker.name)}${others}, including all messages? This cannot be undone. [y]es [n]o: `;
  const reply = await askLine(screen.sideInk('yellow', question));
  return /^y(?:es)?$/i.test(reply?.trim() ?? '');
}

function countOf(children: readonly WorkerTreeNode[]): number {
  return children.reduce((sum, { children: below }) => sum + 1 + countOf(below), 0);
}
