/** Converts a tree of workers to its API form. */
import type { WorkerId } from '../../core/ids.ts';
import { toPublicUsage } from '../../core/money/usage.ts';
import type { TreeWorker } from '../../db/read/contexts/worker-tree.ts';
import type { WorkerTree, WorkerTreeNode } from '../schemas/workers/worker-tree.ts';
import { toIsoOrNull } from '../request/instant.ts';

/** `workers`: level by level; more than `most` of them mark the tree as truncated. Null: no worker. */
export function toWorkerTree(workers: readonly TreeWorker[], most: number): WorkerTree | null {
  const nodes = new Map<WorkerId, WorkerTreeNode>();
  let top: WorkerTreeNode | null = null;
  for (const worker of workers.slice(0, most)) {
    const node = toNode(worker);
    nodes.set(worker.id, node);
    if (top === null) top = node;
    else if (worker.parentWorkerId !== null) nodes.get(worker.parentWorkerId)?.children.push(node);
  }
  return top === null ? null : { ...top, truncated: workers.length > most };
}

function toNode({ id, name, contextId, depth, detached, state, job, usage }: TreeWorker): WorkerTreeNode {
  return {
    id,
    name,
    context_id: contextId,
    depth,
    detached,
    state,
    job: toJob(job),
    usage: toPublicUsage(usage),
    children: [],
  };
}

function toJob(job: TreeWorker['job']): WorkerTreeNode['job'] {
  if (job === null) return null;
  const { id, status, startedAt, finishedAt } = job;
  return { id, status, started_at: toIsoOrNull(startedAt), finished_at: toIsoOrNull(finishedAt) };
}
