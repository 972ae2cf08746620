/** The context that `start` shows its example on: made once, on the model that needs no key. */
import { createWorker } from '../commands/create-worker.ts';
import { perform } from '../commands/perform.ts';
import type { CommandPorts } from '../commands/ports.ts';
import { DEFAULT_TENANT } from '../core/ids.ts';
import type { ContextId, TenantId } from '../core/ids.ts';
import { runningContext } from '../db/workers.ts';

const NAME = 'hello';
const MODEL = 'simulated/default';

export async function firstContext(ports: CommandPorts, tenant: TenantId | null): Promise<ContextId> {
  const tenantId = tenant ?? DEFAULT_TENANT;
  const known = await runningContext(ports.database.db, tenantId, NAME, MODEL);
  if (known !== null) return known;
  const created = await perform(
    ports,
    createWorker(ports, {
      tenantId,
      name: NAME,
      title: null,
      role: null,
      config: { model: MODEL },
      parentWorkerId: null,
    }),
  );
  if (created.kind === 'refused') throw new Error(created.message);
  return created.value.contextId;
}
