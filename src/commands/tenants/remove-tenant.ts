/**
 * Deletes everything of a tenant, in steps. The process may die after any of them: another one goes on. Since the request,
 * the tenant is not active: nothing of it is claimed or created, and its runs leave at their next step.
 *
 * 1. Runs have some time to leave, and calls with effect `once` more to end.
 * 2. Its workers and their contexts are deleted, each tree by itself. Runs that go on find no row to write to.
 * 3. Its other rows are deleted, again and again, until none is left and no transaction is open that began before all
 *    knew of the deletion.
 * 4. The row of the tenant is replaced by the entry `tenant.deleted` of the installation's audit log.
 */
import { refuse } from '../../core/errors.ts';
import type { AuditEntryId, Ids, TenantId } from '../../core/ids.ts';
import type { Executor } from '../../db/connection/client.ts';
import { addEntries } from '../../db/write/audit.ts';
import {
  TENANT_TABLES,
  activityOf,
  countDeleted,
  deleteRows,
  deleteTenant,
  hasOldTransaction,
  releaseDeletion,
  takeDeletion,
  topWorkers,
  type TakenDeletion,
} from '../../db/write/tenants/deletion.ts';
import { mapConcurrent } from '../map-concurrent.ts';
import { done, perform, type Command } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';
import { deleteWorker } from '../workers/delete-worker.ts';

/** How long runs have to leave, and calls with effect `once` to end, in milliseconds. */
const LEAVE_MS = 5_000;
const ONCE_MS = 60_000;
/** Workers that are deleted in one step, and rows of a table. */
const AT_ONCE = 100;
const ROWS = 5_000;

type RemovePorts = Pick<CommandPorts, 'database' | 'wakeQueue' | 'bus' | 'times'> & { ids: Ids };

/** `busy`: another process deletes it. `waits`: for calls or transactions; try again later. */
export type Removal = 'removed' | 'waits' | 'busy';

export async function removeTenant(ports: RemovePorts, id: TenantId, isStopped: () => boolean): Promise<Removal> {
  const { db } = ports.database;
  const taken = await takeDeletion(db, id, true);
  if (taken === null) return 'busy';
  const removal = await removeTaken(ports, id, taken, isStopped);
  if (removal === 'waits') await releaseDeletion(db, id);
  return removal;
}

async function removeTaken(
  ports: RemovePorts,
  id: TenantId,
  first: TakenDeletion,
  isStopped: () => boolean,
): Promise<Removal> {
  const { db } = ports.database;
  for (let taken: TakenDeletion | null = first; taken !== null; taken = await takeDeletion(db, id, false)) {
    if (isStopped() || (await isToWait(db, id, taken))) return 'waits';
    const workers = await topWorkers(db, id, AT_ONCE);
    if (workers.length === 0) return removeRest(ports, id, taken, isStopped);
    const deleted = await mapConcurrent(workers, (worker) => deleteWorker(ports, id, worker));
    const count = deleted.reduce((sum, one) => sum + (one.kind === 'done' ? one.deleted : 0), 0);
    await countDeleted(db, id, count);
  }
  return 'busy';
}

async function isToWait(db: Executor, id: TenantId, { now, deletion }: TakenDeletion): Promise<boolean> {
  const sinceMs = now - deletion.at;
  if (sinceMs >= ONCE_MS) return false;
  const { runs, once } = await activityOf(db, id);
  return once || (runs && sinceMs < LEAVE_MS);
}

async function removeRest(
  ports: RemovePorts,
  id: TenantId,
  taken: TakenDeletion,
  isStopped: () => boolean,
): Promise<Removal> {
  const { db } = ports.database;
  for (const table of TENANT_TABLES)
    while ((await deleteRows(db, id, table, ROWS)) === ROWS)
      if (isStopped() || (await takeDeletion(db, id, false)) === null) return 'waits';
  if (await hasOldTransaction(db, taken.deletion)) return 'waits';
  const outcome = await perform(ports, finish(ports, id, taken));
  return outcome.kind === 'done' ? 'removed' : 'waits';
}

/** Refused: something of it was written meanwhile. */
function finish({ ids }: RemovePorts, id: TenantId, { name, deletion }: TakenDeletion): Command<null> {
  return async (tx) => {
    if (!(await deleteTenant(tx, id))) return refuse('not_found', 'Something of the tenant is left.');
    const { actor, requestId, workers, keys, at } = deletion;
    const detail = { workers, keys, requested_at: new Date(at).toISOString(), tenant_id: id };
    const act = { id: ids.next<AuditEntryId>(), action: 'tenant.deleted', target: name, detail } as const;
    await addEntries(tx, { tenantId: null, actor, requestId }, [act]);
    return done(null);
  };
}
