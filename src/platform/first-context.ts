/** The context for the example that `start` prints. Created once, with the model that needs no key. */
import { createWorker } from '../commands/workers/create-worker.ts';
import { done, perform, performWithin, type Command } from '../commands/perform.ts';
import type { CommandPorts } from '../commands/ports.ts';
import type { ContextId, TenantId } from '../core/ids.ts';
import { takeTurn } from '../db/processes/first-start.ts';
import { ensureTenant } from '../db/write/tenants.ts';
import { runningContext } from '../db/write/workers/workers.ts';

const NAME = 'hello';
const MODEL = 'simulated/default';

export async function firstContext(ports: CommandPorts, tenantName: string): Promise<ContextId> {
  const found = await perform(ports, findOrMake(ports, await ensureTenant(ports.database.db, tenantName)));
  if (found.kind === 'refused') throw new Error(found.message);
  return found.value;
}

function findOrMake(ports: CommandPorts, tenantId: TenantId): Command<ContextId> {
  return async (tx) => {
    await takeTurn(tx);
    const known = await runningContext(tx, tenantId, NAME, MODEL);
    if (known !== null) return done(known);
    const config = { model: MODEL };
    const worker = { tenantId, user: null, name: NAME, title: null, role: null, config, parentWorkerId: null };
    const created = await performWithin(tx, createWorker(ports, worker));
    return created.kind === 'refused' ? created : done(created.value.contextId);
  };
}
