/**
 * What `start` leaves in an empty database: a worker whose first job calls a tool, makes a worker of its own and asks a
 * person before it writes a file. The worker and its job are one commit, so that there is one tour whoever dies or
 * starts beside; it runs as any other job does, on the model that needs no key.
 */
import { createWorker } from '../commands/create-worker.ts';
import { done, perform } from '../commands/perform.ts';
import type { Command } from '../commands/perform.ts';
import type { CommandPorts } from '../commands/ports.ts';
import { NORMAL, submitInput } from '../commands/submit-input.ts';
import type { Config } from '../config/config.ts';
import { DEFAULT_TENANT } from '../core/ids.ts';
import type { ContextId, TenantId } from '../core/ids.ts';
import type { WorkerConfig } from '../core/settings.ts';
import { isUntouched, takeTurn } from '../db/first-start.ts';
import { contextsWithUnfinished } from '../db/unfinished.ts';

/** What tells the tour's job from all others. */
const MARK = { tour: 'first start' };

const CONFIG: WorkerConfig = {
  model: 'simulated/tour',
  tools: ['remember', 'recall', 'spawn_worker', 'write_file'],
  approval: [{ tool: 'write_file', decision: 'always' }],
};

const CHILD = `call: recall {}
---
say: I am a worker of its own, with a context and jobs of my own. A worker may make thousands of us.`;

const WELCOME = `Welcome to Nightshift.

This file lies in the workspace of the worker "tour". A person approved that it be written.
`;

const SCRIPT = `# This input is a script for the simulated model, which needs no key. A real model is asked in plain words.
think: First a tool, then a worker of my own, then something that a person has to allow.
say: Welcome. I am a worker, and this is my first job. I begin with a tool: I remember something.
${call('remember', { key: 'tour', value: 'Every step of this job was stored before the next began.' })}
---
say: Now I make a worker of my own, and wait for what it says.
${call('spawn_worker', { name: 'tour guide', input: CHILD })}
---
say: Now I want to write a file. My config says that a person is asked first: this call waits, for days if need be, and holds nothing meanwhile.
${call('write_file', { path: 'welcome.md', content: WELCOME })}
---
say: That was all. The timeline of this job shows each step, the tree shows whom I made, and you can go on here: write me something.`;

function call(tool: string, input: Readonly<Record<string, string>>): string {
  return `call: ${tool} ${JSON.stringify(input)}`;
}

/** The context of the tour while it is unfinished, made where the database is empty; null: there is none. */
export async function tour(
  ports: CommandPorts,
  { tour: wanted, apiKeys, queueLimit }: Pick<Config, 'tour' | 'apiKeys' | 'queueLimit'>,
): Promise<ContextId | null> {
  if (!wanted) return null;
  const tenantId = apiKeys[0]?.tenant ?? DEFAULT_TENANT;
  const made = await perform(ports, make(ports, tenantId, queueLimit));
  if (made.kind === 'refused') throw new Error(made.message);
  const filter = { contextId: null, workerId: null, role: null, status: null, kind: null, metadata: MARK };
  const [touring] = await contextsWithUnfinished(ports.database.db, tenantId, filter, null, 1);
  return touring ?? null;
}

/** In a transaction. Nothing where the database was used before. */
function make(ports: CommandPorts, tenantId: TenantId, queueLimit: number): Command<null> {
  return async (tx) => {
    await takeTurn(tx);
    if (!(await isUntouched(tx))) return done(null);
    const title = 'A tour of Nightshift';
    const worker = { tenantId, name: 'tour', title, role: null, config: CONFIG, parentWorkerId: null };
    const created = await createWorker(ports, worker)(tx);
    if (created.kind === 'refused') return created;
    const submitted = await submitInput(ports, {
      tenantId,
      contextId: created.value.contextId,
      content: [{ type: 'text', text: SCRIPT }],
      delivery: 'queue',
      branch: null,
      priority: NORMAL,
      metadata: MARK,
      maxSteps: null,
      deadline: null,
      queueLimit,
    })(tx);
    return submitted.kind === 'refused' ? submitted : done(null, ...submitted.afterCommit);
  };
}
