/**
 * Delete: a worker and all below it are removed for good, deepest first, each in a transaction of its own. A run that
 * goes on meanwhile finds no row to write to. A child that came to be meanwhile is found with its parent, and goes first.
 * Interrupted, it is called again and goes on.
 */
import { progressOf, summonsTo } from '../bus/bus.ts';
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import type { ContextId, TenantId, WorkerId } from '../core/ids.ts';
import { deleteContext, descendants, holdChildless, versionOf } from '../db/workers.ts';
import { callUp } from '../db/wishes.ts';
import type { CommandPorts } from './ports.ts';

/** `isCurrent`: whether the version that stands is the one that was meant. Refused: `not_found`, `version_conflict`. */
export async function deleteWorker(
  ports: Pick<CommandPorts, 'database' | 'bus' | 'times'>,
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
    for (const worker of left) if (await deleteOne(ports, tenantId, worker)) deleted += 1;
  }
  return { kind: 'done', deleted };
}

/** False: it is gone already, or has a child that must go first. */
async function deleteOne(
  { database, bus, times }: Pick<CommandPorts, 'database' | 'bus' | 'times'>,
  tenantId: TenantId,
  { id, contextId }: { id: WorkerId; contextId: ContextId },
): Promise<boolean> {
  const called = await database.transaction(async (tx) => {
    const called = await callUp(tx, tenantId, contextId, times);
    if (called === null || !(await holdChildless(tx, tenantId, id))) return null;
    await deleteContext(tx, contextId);
    return called;
  });
  if (called === null) return false;
  const { owner, controlSeq } = called;
  if (owner !== null) bus.publish(summonsTo(owner), { contextId, controlSeq });
  bus.publish(progressOf(contextId), { contextId, headSeq: 0, finished: null });
  return true;
}
