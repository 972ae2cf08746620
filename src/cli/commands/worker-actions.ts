/** What is done to a worker, below `workers`: stopping, starting and deleting it. */
import type { Command } from 'commander';
import type { Worker, WorkerTreeNode } from '../../client/index.ts';
import { apiCommand, carryOut } from '../cli.ts';
import type { Cli, Common } from '../cli.ts';
import { CommandError, EXIT } from '../exit.ts';
import type { Exit } from '../exit.ts';
import { findWorker } from '../find.ts';
import { askLine } from '../terminal/ask-line.ts';
import { oneLine } from '../terminal/safe.ts';
import { count } from '../terminal/time.ts';

export function stopWorkerCommand(cli: Cli): Command {
  return apiCommand(
    'stop',
    'cancels what it does, with all below it; it takes no input until it is started',
    ['nightshift workers stop ada'],
  )
    .argument('<worker>', 'its id or name')
    .action((named: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const { id } = await findWorker(client, named);
        format(cli, options, await client.workers.stop(id), 'is stopped, with those below it');
      }),
    );
}

export function startWorkerCommand(cli: Cli): Command {
  return apiCommand('start', 'lets it take input again, with those below it that were stopped', [
    'nightshift workers start ada',
  ])
    .argument('<worker>', 'its id or name')
    .action((named: string, options: Common) =>
      carryOut(cli, options, async (client) => {
        const { id } = await findWorker(client, named);
        format(cli, options, await client.workers.start(id), 'takes input again, with those below it');
      }),
    );
}

function format({ screen }: Cli, { json }: Common, worker: Worker, what: string): void {
  if (json === true) screen.json(worker);
  else screen.out(`${oneLine(worker.name)} ${what}.\n`);
}

export function deleteWorkerCommand(cli: Cli): Command {
  return apiCommand('delete', 'removes it for good, with those below it and all that was said', [
    'nightshift workers delete ada             # asks first, at a terminal',
    'nightshift workers delete 0199… --yes',
  ])
    .argument('<worker>', 'its id or name')
    .option('-y, --yes', 'does not ask')
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
        format(cli, options, worker, 'is deleted');
        return EXIT.completed;
      }),
    );
}

async function isMeant({ screen }: Cli, worker: Worker, below: number, isMore: boolean): Promise<boolean> {
  if (!screen.canAsk)
    throw new CommandError(EXIT.usage, `Nobody can be asked here whether it is meant: give --yes.`);
  const others = below === 0 ? '' : ` and ${count(below, 'worker')}${isMore ? ' or more' : ''} below it`;
  const question = `Delete ${oneLine(worker.name)}${others}, with all that was said? This cannot be undone. [y]es [n]o: `;
  const said = await askLine(screen.sideInk('yellow', question));
  return /^y(?:es)?$/i.test(said?.trim() ?? '');
}

function countOf(children: readonly WorkerTreeNode[]): number {
  return children.reduce((sum, { children: below }) => sum + 1 + countOf(below), 0);
}
