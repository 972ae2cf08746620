/**
 * Delete: a worker and all below it are removed for good, deepest first, each in a transaction of its own. A run that
 * goes on meanwhile finds no row to write to. Interrupted, it is called again and goes on.
 */
import { progressOf, summonsTo } from '../bus/bus.ts';
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import type { ContextId, TenantId, WorkerId } from '../core/ids.ts';
import { deleteContext, descendants, versionOf } from '../db/workers.ts';
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
  for (const { contextId } of tree) await deleteOne(ports, tenantId, contextId);
  return { kind: 'done', deleted: tree.length };
}

async function deleteOne(
  { database, bus, times }: Pick<CommandPorts, 'database' | 'bus' | 'times'>,
  tenantId: TenantId,
  contextId: ContextId,
): Promise<void> {
  const called = await database.transaction(async (tx) => {
    const called = await callUp(tx, tenantId, contextId, times);
    if (called !== null) await deleteContext(tx, contextId);
    return called;
  });
  if (called === null) return;
  const { owner, controlSeq } = called;
  if (owner !== null) bus.publish(summonsTo(owner), { contextId, controlSeq });
  bus.publish(progressOf(contextId), { contextId, headSeq: 0, finished: null });
}
