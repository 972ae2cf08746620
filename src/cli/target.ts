/** Chooses the context for an input: an existing one, or that of a new worker. */
import type { Client, WorkerConfig } from '../client/index.ts';
import { findWorker } from './find.ts';

export type TargetOptions = {
  worker?: string;
  context?: string;
  role?: string;
  model?: string;
  system?: string;
  tool?: string[];
  name?: string;
};

const NAME = 'command-line';

/** Returns the id of the context. */
export async function target(client: Client, options: TargetOptions): Promise<string> {
  if (options.context !== undefined) return options.context;
  if (options.worker !== undefined) return (await findWorker(client, options.worker)).context_id;
  const { name = NAME, role, model, system, tool } = options;
  const config: WorkerConfig = {
    ...(model === undefined ? {} : { model }),
    ...(system === undefined ? {} : { system_prompt: system }),
    ...(tool === undefined ? {} : { tools: tool }),
  };
  const made = await client.workers.create({ name, config, ...(role === undefined ? {} : { role }) });
  return made.context_id;
}
