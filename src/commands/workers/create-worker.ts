/** Creates a worker and its context. The API has already validated the names of models, tools and roles. */
import { refuse, type Refusal } from '../../core/errors.ts';
import type { ContextId, TenantId, WorkerId } from '../../core/ids.ts';
import type { Role, WorkerConfig, WorkerRole } from '../../core/workers/settings.ts';
import {
  TREE_LIMITS,
  narrowed,
  narrowest,
  overLimit,
  type TreeLimits,
  type WorkerLimitsConfig,
} from '../../core/workers/worker-limits.ts';
import type { Executor } from '../../db/connection/client.ts';
import { readParent } from '../../db/run/team.ts';
import { createWorker as insertWorker, depthOf } from '../../db/write/workers/workers.ts';
import { done, type Command } from '../perform.ts';
import type { CommandPorts } from '../ports.ts';

export type CreateWorker = {
  tenantId: TenantId;
  name: string;
  title: string | null;
  role: WorkerRole | null;
  config: WorkerConfig;
  parentWorkerId: WorkerId | null;
};

/** `fileRoles`: the roles of the config file. Refused: `not_found` (the parent), `worker_limit`. */
export function createWorker(
  { ids }: Pick<CommandPorts, 'ids'>,
  worker: CreateWorker,
  trees: TreeLimits = TREE_LIMITS,
  fileRoles: ReadonlyMap<string, Role> = new Map(),
): Command<{ workerId: WorkerId; contextId: ContextId }> {
  return async (tx) => {
    const { parentWorkerId } = worker;
    const below = parentWorkerId === null ? TOP : await placeBelow(tx, { ...worker, parentWorkerId }, trees, fileRoles);
    if (below.kind === 'refused') return below;
    const workerId = ids.next<WorkerId>();
    const contextId = ids.next<ContextId>();
    const limits = narrowest(below.limits, worker.config.limits ?? {});
    const config = Object.keys(limits).length === 0 ? worker.config : { ...worker.config, limits };
    await insertWorker(tx, { ...worker, config, id: workerId, contextId, depth: below.depth });
    return done({ workerId, contextId });
  };
}

/** `limits`: the limits of the parent, which also apply to its children. */
type Place = { kind: 'place'; depth: number; limits: WorkerLimitsConfig };

const TOP: Place = { kind: 'place', depth: 0, limits: {} };

async function placeBelow(
  tx: Executor,
  { tenantId, parentWorkerId: parentId }: { tenantId: TenantId; parentWorkerId: WorkerId },
  { limits, tenantWorkers }: TreeLimits,
  fileRoles: ReadonlyMap<string, Role>,
): Promise<Place | Refusal> {
  const depth = await depthOf(tx, tenantId, parentId);
  const parent = await readParent(tx, tenantId, parentId, {
    jobId: null,
    countsTenant: tenantWorkers !== null,
  });
  if (depth === null || parent === null) {
    return refuse('not_found', `No worker has the id ${parentId}.`, 'parent_worker_id');
  }
  const { role, definition, config } = parent;
  const ofRole = definition ?? (role === null ? undefined : fileRoles.get(role.name));
  const ownLimits = narrowest(ofRole?.limits ?? {}, config.limits ?? {});
  const over = overLimit(parent.counts, narrowed(limits, ownLimits), tenantWorkers);
  if (over !== null) return refuse('worker_limit', over, 'parent_worker_id');
  return { kind: 'place', depth: depth + 1, limits: ownLimits };
}
