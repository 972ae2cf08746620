/**
 * Delete: a worker and all below it are removed for good, deepest first, each in a transaction of its own. A run that
 * goes on meanwhile finds no row to write to. A child that came to be meanwhile is found with its parent, and goes first;
 * one that was spawned detached stays, with all below it, and has no parent any more.
 * Interrupted, it is called again and goes on.
 */
import { progressOf, controlSignalsTo } from '../bus/bus.ts';
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import type { ContextId, TenantId, WorkerId } from '../core/ids.ts';
import { deleteContext, descendants, lockChildless, releaseDetached, versionOf } from '../db/workers.ts';
import { lockForControl } from '../db/stop-requests.ts';
import type { Executor } from '../db/client.ts';
import type { CommandPorts } from './ports.ts';
import { wakeMet } from './wake-met.ts';

/** `isCurrent`: whether the version that stands is the one that was meant. Refused: `not_found`, `version_conflict`. */
export async function deleteWorker(
  ports: Pick<CommandPorts, 'database' | 'wakeQueue' | 'bus' | 'times'>,
  tenantId: TenantId,
  workerId: WorkerId,
  isCurrent: (version: number) => boolean = () => true,
): Promise<{ kind: 'done'; deleted: number } | Refusal> {
  const tree = await descendants(ports.database.db, tenantId, workerId);
  if (tree.length === 0) return refuse('not_found', `There is no worker ${workerId}.`);
  const version = await versionOf(ports.database.db, tenantId, workerId);
  if (version !== null && !isCurrent(version)) {
    return refuse('version_conflict', 'The settings were changed meanwhile: read them again.');
  }
  let deleted = 0;
  for (let left = tree; left.length > 0; left = await descendants(ports.database.db, tenantId, workerId)) {
    for (const worker of left) if (await removeWorker(ports, { tenantId, ...worker })) deleted += 1;
  }
  return { kind: 'done', deleted };
}

/**
 * Removes one worker and its context. `may`: asked first in the transaction that does it. False: it may not go, is gone
 * already, or has a child that must go first.
 */
export async function removeWorker(
  ports: Pick<CommandPorts, 'database' | 'wakeQueue' | 'bus' | 'times'>,
  { tenantId, id, contextId }: { tenantId: TenantId; id: WorkerId; contextId: ContextId },
  may: (executor: Executor) => Promise<boolean> = async () => true,
): Promise<boolean> {
  const { database, bus, times } = ports;
  const removed = await database.transaction(async (tx) => {
    if (!(await may(tx))) return null;
    const called = await lockForControl(tx, tenantId, contextId, times);
    if (called === null || !(await lockChildless(tx, tenantId, id))) return null;
    await releaseDetached(tx, tenantId, id);
    return { ...called, met: await deleteContext(tx, tenantId, contextId) };
  });
  if (removed === null) return false;
  const { owner, controlSeq, met } = removed;
  if (owner !== null) bus.publish(controlSignalsTo(owner), { contextId, controlSeq });
  bus.publish(progressOf(contextId), { contextId, headSeq: 0, finished: null });
  wakeMet(ports, met);
  return true;
}
