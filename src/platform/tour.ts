/**
 * The example that `start` creates in an empty database: a worker whose first job calls a tool, spawns a child worker
 * and asks for approval before it writes a file. The worker and its job are created in one transaction, so there is
 * exactly one tour, even after a crash or with several processes starting at once. It uses the model that needs no key.
 */
import { isSecured, type AccessSettings } from '../config/secured.ts';
import { createWorker } from '../commands/workers/create-worker.ts';
import { done, perform, performWithin, type Command } from '../commands/perform.ts';
import type { CommandPorts } from '../commands/ports.ts';
import { NORMAL } from '../commands/inputs/enqueue.ts';
import type { Config } from '../config/config.ts';
import type { InputBlock } from '../core/conversation/blocks.ts';
import type { ContextId, TenantId } from '../core/ids.ts';
import type { WorkerConfig } from '../core/workers/settings.ts';
import { isUntouched, takeTurn } from '../db/processes/first-start.ts';
import { ALL_UNFINISHED, contextsWithUnfinished } from '../db/run/unfinished.ts';
import { activeTenantOf } from './first-context.ts';
import { keyWith } from '../config/key-with.ts';

/** Marks the job of the tour. */
const MARK = { tour: 'first start' };

const CONFIG: WorkerConfig = {
  model: 'simulated/tour',
  tools: ['remember', 'recall', 'spawn_worker', 'write_file'],
  approval: [{ tool: 'write_file', decision: 'always' }],
};

const CHILD = `call: recall {}
---
say: I am a child worker, with my own context and my own jobs. A worker can spawn thousands of us.`;

const WELCOME = `Welcome to Nightshift.

This file is in the workspace of the worker "tour". A person approved writing it.
`;

const SCRIPT = `# This input is a script for the simulated model, which needs no key. A real model takes plain text.
think: First a tool call, then a child worker, then a call that needs approval.
say: Welcome. I am a worker, and this is my first job. First I call a tool to remember something.
${call('remember', { key: 'tour', value: 'Every step of this job was stored before the next step started.' })}
---
say: Now I spawn a child worker and wait for its answer.
${call('spawn_worker', { name: 'tour guide', input: CHILD })}
---
say: Now I want to write a file. My config requires approval for that. The call can wait for days and uses no resources meanwhile.
${call('write_file', { path: 'welcome.md', content: WELCOME })}
---
say: The tour is complete. The timeline of this job shows each step, and the tree shows the worker that I spawned. Send me a message to continue.`;

function call(tool: string, input: Readonly<Record<string, string>>): string {
  return `call: ${tool} ${JSON.stringify(input)}`;
}

/**
 * The context of the tour until its job ends. Creates the tour in an empty database. Null: there is no tour, or no key
 * that could open it.
 */
export async function tour(
  ports: CommandPorts,
  { tour: wanted, ...access }: Pick<Config, 'tour'> & AccessSettings,
): Promise<ContextId | null> {
  const key = keyWith(access.apiKeys, ['read', 'run', 'approve']);
  if (!wanted || (key === undefined && isSecured(access))) return null;
  const tenantId = await activeTenantOf(ports.database.db, key);
  if (tenantId === null) return null;
  const made = await perform(ports, make(ports, tenantId));
  if (made.kind === 'refused') throw new Error(made.message);
  const filter = { ...ALL_UNFINISHED, metadata: MARK };
  const [touring] = await contextsWithUnfinished(ports.database.db, tenantId, filter, {
    after: null,
    limit: 1,
  });
  return touring ?? null;
}

/** Does nothing if the database was used before. */
function make(ports: CommandPorts, tenantId: TenantId): Command<null> {
  return async (tx) => {
    await takeTurn(tx);
    if (!(await isUntouched(tx))) return done(null);
    const title = 'A tour of Nightshift';
    const worker = { tenantId, user: null, name: 'tour', title, role: null, config: CONFIG, parentWorkerId: null };
    const content: InputBlock[] = [{ type: 'text', text: SCRIPT }];
    const input = {
      content,
      priority: NORMAL,
      metadata: MARK,
      user: null,
      maxSteps: null,
      outputSchema: null,
      deadline: null,
      traceParent: null,
    };
    const created = await performWithin(tx, createWorker(ports, worker, input));
    return created.kind === 'refused' ? created : { ...created, value: null };
  };
}
