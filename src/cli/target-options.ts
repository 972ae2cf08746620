/** Options that choose the worker for a task. */
import { Option, type Command } from 'commander';
import { gathered } from './values.ts';

/** Options of a new worker; they conflict with an existing one. */
const WORKER_OPTIONS = ['role', 'model', 'system', 'tool', 'name'];

export function targetOptions(command: Command): Command {
  return command
    .addOption(new Option('-w, --worker <id|name>', 'use an existing worker').conflicts([...WORKER_OPTIONS, 'context']))
    .addOption(new Option('-c, --context <id>', 'use an existing context').conflicts([...WORKER_OPTIONS, 'worker']))
    .option('-r, --role <role>', 'role of a new worker')
    .option('-m, --model <provider/model>', 'model of the new worker')
    .option('--system <text>', 'system prompt of the new worker')
    .option('-t, --tool <name>', 'tool of the new worker; may be repeated, or separated by commas', gathered)
    .option('--name <name>', 'name of the new worker');
}
