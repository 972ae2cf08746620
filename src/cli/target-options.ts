/** Options that say who is to do it. */
import { Option } from 'commander';
import type { Command } from 'commander';
import { gathered } from './values.ts';

/** What makes a worker has no meaning where one is there. */
const WORKER_OPTIONS = ['role', 'model', 'system', 'tool', 'name'];

export function targetOptions(command: Command): Command {
  return command
    .addOption(
      new Option('-w, --worker <id|name>', 'a worker that is there').conflicts([
        ...WORKER_OPTIONS,
        'context',
      ]),
    )
    .addOption(
      new Option('-c, --context <id>', 'a context that is there').conflicts([...WORKER_OPTIONS, 'worker']),
    )
    .option('-r, --role <role>', 'a new worker of this role')
    .option('-m, --model <provider/model>', 'the model of the new worker')
    .option('--system <text>', 'the system prompt of the new worker')
    .option(
      '-t, --tool <name>',
      'a tool of the new worker; may be given several times, or with commas',
      gathered,
    )
    .option('--name <name>', 'the name of the new worker');
}
