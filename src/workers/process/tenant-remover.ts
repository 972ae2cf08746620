/** Deletes tenants whose deletion was requested. Every worker process looks; one of them does it. */
import type { TenantId } from '../../core/ids.ts';
import { removeTenant } from '../../commands/tenants/remove-tenant.ts';
import type { WorkerState } from './ports.ts';
import { Rounds } from './rounds.ts';
import { removeOrphans } from './workspaces.ts';

/** Time between two rounds, in milliseconds. */
const ROUND_MS = 1_000;

export function createTenantRemover(state: WorkerState): Rounds {
  const random = () => state.random();
  return new Rounds(ROUND_MS, random, async (stopping) => {
    for (const id of state.tenants.deleting) {
      if (stopping.aborted) return;
      await remove(state, id, () => stopping.aborted).catch((error: unknown) =>
        state.log.warn({ err: error, tenant_id: id }, 'could not delete a tenant'),
      );
    }
  });
}

async function remove(state: WorkerState, id: TenantId, isStopped: () => boolean): Promise<void> {
  const removal = await removeTenant(state, id, isStopped);
  if (removal !== 'removed') return;
  const { workspaces } = state.expiry;
  if (workspaces !== null) await removeOrphans(state.database.db, workspaces, isStopped);
  state.log.info({ tenant_id: id }, 'deleted a tenant');
}
