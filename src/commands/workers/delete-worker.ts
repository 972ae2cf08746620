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
import { done, perform, type Command, type Outcome } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';

type DeletePorts = Pick<CommandPorts, 'database' | 'wakeQueue' | 'bus' | 'times'>;

type Deletable = { tenantId: TenantId; id: WorkerId; contextId: ContextId };

type Deletion = {
  /** Whether the stored version is the one that the client meant. */
  isCurrent?: (version: number) => boolean;
  /** Performs the last transaction, which deletes the worker itself; its refusals are returned. */
  performLast?: (command: Command<object>) => Promise<Outcome<object>>;
};

/** Refused: `not_found`, `version_conflict`, and what `performLast` refuses. */
export async function deleteWorker(
  ports: DeletePorts,
  tenantId: TenantId,
  workerId: WorkerId,
  { isCurrent = () => true, performLast = (command) => perform(ports, command) }: Deletion = {},
): Promise<{ kind: 'done'; deleted: number } | Refusal> {
  const tree = await descendants(ports.database.db, tenantId, workerId);
  if (tree.length === 0) return refuse('not_found', `No worker has the id ${workerId}.`);
  const version = await versionOf(ports.database.db, tenantId, workerId);
  if (version !== null && !isCurrent(version)) {
    return refuse('version_conflict', 'The settings have changed since you read them. Read them again.');
  }
  let deleted = 0;
  for (let left = tree; left.length > 0; left = await descendants(ports.database.db, tenantId, workerId)) {
    for (const worker of left) {
      const command = deletion(ports, { tenantId, ...worker });
      const outcome = await (worker.id === workerId ? performLast(command) : perform(ports, command));
      if (outcome.kind === 'done') deleted += 1;
      else if (outcome.code !== 'not_found') return outcome;
    }
  }
  return { kind: 'done', deleted };
}

/** Deletes one worker and its context, if `may` returns true in the same transaction. */
export async function deleteAlone(
  ports: DeletePorts,
  worker: Deletable,
  may: (executor: Executor) => Promise<boolean>,
): Promise<boolean> {
  const command = deletion(ports, worker);
  const refused = refuse('not_found', 'The worker may not be deleted.');
  const outcome = await perform(ports, async (tx) => ((await may(tx)) ? command(tx) : refused));
  return outcome.kind === 'done';
}

/** Refused with `not_found`: the worker is already deleted, or a child of it must be deleted first. */
function deletion({ times }: DeletePorts, { tenantId, id, contextId }: Deletable): Command<object> {
  return async (tx) => {
    const locked = await lockForControl(tx, tenantId, contextId, times);
    if (locked === null || !(await lockChildless(tx, tenantId, id))) {
      return refuse('not_found', 'The worker is already deleted, or has a child that must be deleted first.');
    }
    await releaseDetached(tx, tenantId, id);
    const met = await deleteContext(tx, tenantId, contextId);
    return done({}, ...signalTo(contextId, locked), progressTo(contextId, 0), ...wakeMetContexts(met));
  };
}
