/**
 * Deletes a worker and all workers below it for good, deepest first, each in its own transaction. A run in progress
 * finds no row to write to. A child that is created meanwhile is found with its parent, and deleted first. A child that
 * was spawned detached stays, with all workers below it, and has no parent any more. After an interruption, another
 * call continues the deletion.
 */
import { refuse, type Refusal } from '../../core/errors.ts';
import type { ContextId, TenantId, WorkerId } from '../../core/ids.ts';
import {
  deleteContext,
  descendants,
  lockChildless,
  releaseDetached,
  versionOf,
} from '../../db/write/workers/workers.ts';
import { lockForControl } from '../../db/run/stop-requests.ts';
import type { Executor } from '../../db/connection/client.ts';
import { progressTo, signalTo, wakeMetContexts } from '../after-commit.ts';
import { done, perform, type Command } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';

/**
 * `isCurrent`: whether the stored version is the one that the client meant. Refused: `not_found`, `version_conflict`.
 */
export async function deleteWorker(
  ports: Pick<CommandPorts, 'database' | 'wakeQueue' | 'bus' | 'times'>,
  tenantId: TenantId,
  workerId: WorkerId,
  isCurrent: (version: number) => boolean = () => true,
): Promise<{ kind: 'done'; deleted: number } | Refusal> {
  const tree = await descendants(ports.database.db, tenantId, workerId);
  if (tree.length === 0) return refuse('not_found', `No worker has the id ${workerId}.`);
  const version = await versionOf(ports.database.db, tenantId, workerId);
  if (version !== null && !isCurrent(version)) {
    return refuse('version_conflict', 'The settings have changed since you read them. Read them again.');
  }
  let deleted = 0;
  for (let left = tree; left.length > 0; left = await descendants(ports.database.db, tenantId, workerId)) {
    for (const worker of left) if (await removeWorker(ports, { tenantId, ...worker })) deleted += 1;
  }
  return { kind: 'done', deleted };
}

/**
 * Deletes one worker and its context. `may` is checked first in the same transaction. False: `may` returned false, the
 * worker is already deleted, or a child of it must be deleted first.
 */
export async function removeWorker(
  ports: Pick<CommandPorts, 'database' | 'wakeQueue' | 'bus' | 'times'>,
  { tenantId, id, contextId }: { tenantId: TenantId; id: WorkerId; contextId: ContextId },
  may: (executor: Executor) => Promise<boolean> = async () => true,
): Promise<boolean> {
  const command: Command<boolean> = async (tx) => {
    if (!(await may(tx))) return done(false);
    const locked = await lockForControl(tx, tenantId, contextId, ports.times);
    if (locked === null || !(await lockChildless(tx, tenantId, id))) return done(false);
    await releaseDetached(tx, tenantId, id);
    const met = await deleteContext(tx, tenantId, contextId);
    return done(true, ...signalTo(contextId, locked), progressTo(contextId, 0), ...wakeMetContexts(met));
  };
  const outcome = await perform(ports, command);
  return outcome.kind === 'done' && outcome.value;
}
