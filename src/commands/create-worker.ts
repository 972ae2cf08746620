/** A worker and its context come to be. Names of models, tools and roles were validated at the edge. */
import { refuse } from '../core/errors.ts';
import type { ContextId, TenantId, WorkerId } from '../core/ids.ts';
import type { WorkerConfig, WorkerRole } from '../core/settings.ts';
import { createWorker as insertWorker, depthOf } from '../db/workers.ts';
import { done } from './perform.ts';
import type { Command } from './perform.ts';
import type { CommandPorts } from './ports.ts';

export type CreateWorker = {
  tenantId: TenantId;
  name: string;
  title: string | null;
  role: WorkerRole | null;
  config: WorkerConfig;
  parentWorkerId: WorkerId | null;
};

/** In a transaction. Refused: `not_found` (the parent). */
export function createWorker(
  { ids }: Pick<CommandPorts, 'ids'>,
  worker: CreateWorker,
): Command<{ workerId: WorkerId; contextId: ContextId }> {
  return async (tx) => {
    const { tenantId, parentWorkerId } = worker;
    const parentDepth = parentWorkerId === null ? -1 : await depthOf(tx, tenantId, parentWorkerId);
    if (parentDepth === null) {
      return refuse('not_found', `There is no worker ${parentWorkerId}.`, 'parent_worker_id');
    }
    const workerId = ids.next<WorkerId>();
    const contextId = ids.next<ContextId>();
    await insertWorker(tx, { ...worker, id: workerId, contextId, depth: parentDepth + 1 });
    return done({ workerId, contextId });
  };
}
