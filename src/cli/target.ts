/** Chooses the context for an input: an existing one, or that of a new worker. */
import { Option, type Command } from 'commander';
import type { Client } from '../client/index.ts';
import { findWorker } from './find.ts';
import { gathered, given } from './values.ts';

export type TargetOptions = {
  worker?: string;
  context?: string;
  role?: string;
  model?: string;
  system?: string;
  tool?: string[];
  name?: string;
};

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

/** Returns the id of the context. */
export async function target(client: Client, options: TargetOptions): Promise<string> {
  if (options.context !== undefined) return options.context;
  if (options.worker !== undefined) return (await findWorker(client, options.worker)).context_id;
  const { name = 'command-line', role, model, system, tool } = options;
  const config = given({ model, system_prompt: system, tools: tool });
  const made = await client.workers.create({ name, config, ...given({ role }) });
  return made.context_id;
}
