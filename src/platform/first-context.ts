/** The context for the example that `start` prints. Created once, with the model that needs no key. */
import { createWorker } from '../commands/workers/create-worker.ts';
import { done, perform, performWithin, type Command } from '../commands/perform.ts';
import type { CommandPorts } from '../commands/ports.ts';
import { keyId } from '../api/access/environment-keys.ts';
import type { ApiKey } from '../config/access.ts';
import { DEFAULT_TENANT, DEFAULT_TENANT_NAME, type ContextId, type TenantId } from '../core/ids.ts';
import type { Executor } from '../db/connection/client.ts';
import { findActive, tenantOfKey } from '../db/write/tenants/tenants.ts';
import { takeTurn } from '../db/processes/first-start.ts';
import { runningContext } from '../db/write/workers/workers.ts';

const NAME = 'hello';
const MODEL = 'simulated/default';

export async function firstContext(ports: CommandPorts, tenantId: TenantId): Promise<ContextId> {
  const found = await perform(ports, findOrMake(ports, tenantId));
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

/** The tenant of a key of the environment, or else `default`. Null: it is not active, or the key was one of a deleted tenant. */
export async function activeTenantOf(executor: Executor, key: ApiKey | undefined): Promise<TenantId | null> {
  if (key === undefined || key.tenant === DEFAULT_TENANT_NAME)
    return (await findActive(executor, [DEFAULT_TENANT])).has(DEFAULT_TENANT) ? DEFAULT_TENANT : null;
  const found = await tenantOfKey(executor, key.tenant, keyId(key.key));
  return found?.tenantStatus === 'active' ? found.tenantId : null;
}
