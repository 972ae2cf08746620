// Data that tests of the console prepare, over the API.
import { expect } from 'vitest';
import type { Client, Context, WorkerConfig } from '../../../src/client/index.ts';

const TOOLS = ['look_up', 'send_mail', 'wire_money', 'ask_user'];

/** A context with a simulated model; `inputs` are posted one after the other. Returns the ids of their jobs. */
export async function openContext(
  client: Client,
  title: string,
  inputs: readonly string[],
  config: WorkerConfig = {},
): Promise<{ context: Context; jobs: string[] }> {
  const context = await client.contexts.create({
    title,
    config: { model: 'simulated/test', tools: TOOLS, ...config },
  });
  const jobs: string[] = [];
  for (const input of inputs) jobs.push((await client.contexts.send(context.id, input)).job_id);
  return { context, jobs };
}

/** Resolves once so many items wait for a person. */
export async function waitingFor(client: Client, count: number): Promise<void> {
  await expect
    .poll(async () => (await client.approvals.list().page()).data.length, { interval: 100 })
    .toBeGreaterThanOrEqual(count);
}

/** Runs until it is stopped. */
export const ENDLESS = 'wait: 1h';
