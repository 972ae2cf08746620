/** Who gets an input: an existing context, or a new worker. */
import { Option, type Command } from 'commander';
import type { Client } from '../client/index.ts';
import { findContextId, findWorker } from './find/find.ts';
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

/** The id of the existing context that is named; null: a new worker gets the input. */
export async function existingContext(client: Client, { context, worker }: TargetOptions): Promise<string | null> {
  if (context !== undefined) return findContextId(client, context);
  return worker === undefined ? null : (await findWorker(client, worker)).context_id;
}

export function newWorker({ name = 'command-line', role, model, system, tool }: TargetOptions) {
  const config = given({ model, system_prompt: system, tools: tool });
  return { name, config, ...given({ role }) };
}
