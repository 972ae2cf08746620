/** How many workers may come to be below one another: whether one more may. */
import { LIMITS } from './limits.ts';

/** As a config, a role and the config file say them. */
export type WorkerLimitsConfig = { depth?: number; children?: number; workers?: number };

/** `depth`: of a worker, where 0 has no parent. `children`: of one worker. `workers`: at work in one tree. */
export type WorkerLimits = { depth: number; children: number; workers: number };

/** What holds where the operator says nothing. */
export const WORKER_LIMITS: WorkerLimits = {
  depth: LIMITS.workerDepth,
  children: LIMITS.workerChildren,
  workers: LIMITS.workersInTree,
};

export const TREE_LIMITS: TreeLimits = { limits: WORKER_LIMITS, tenantWorkers: null };

/** The narrower of both, member by member. */
export function narrowed(wide: WorkerLimits, said: WorkerLimitsConfig): WorkerLimits {
  return {
    depth: Math.min(wide.depth, said.depth ?? wide.depth),
    children: Math.min(wide.children, said.children ?? wide.children),
    workers: Math.min(wide.workers, said.workers ?? wide.workers),
  };
}

/** The narrowest of what either says; what neither says stays open. */
export function narrowest(one: WorkerLimitsConfig, other: WorkerLimitsConfig): WorkerLimitsConfig {
  const members = ['depth', 'children', 'workers'] as const;
  return Object.fromEntries(
    members.flatMap((name) => {
      const said = [one[name], other[name]].filter((limit) => limit !== undefined);
      return said.length === 0 ? [] : [[name, Math.min(...said)]];
    }),
  );
}

/** Of all trees, as the operator says. `tenantWorkers`: of one tenant, at work at once; null: no limit. */
export type TreeLimits = { limits: WorkerLimits; tenantWorkers: number | null };

/** Around a worker that wants to be a parent: its depth, its children, who is at work in its tree and of its tenant. */
export type WorkerCounts = { depth: number; children: number; inTree: number; ofTenant: number };

/** In words for whoever asked; null: there is room for one more. `tenantWorkers`: null: no limit. */
export function overLimit(
  { depth, children, inTree, ofTenant }: WorkerCounts,
  limits: WorkerLimits,
  tenantWorkers: number | null,
): string | null {
  if (depth + 1 > limits.depth)
    return `Workers may be ${limits.depth} deep below the first one, and this one is at depth ${depth}: it can have no children.`;
  if (children + 1 > limits.children)
    return `A worker may have ${limits.children} children, and this one has ${children}. Give the work to one of them, or remove some.`;
  if (inTree + 1 > limits.workers)
    return `${limits.workers} workers of one tree may be at work at once, and ${inTree} are. Wait for some of them to end.`;
  if (tenantWorkers !== null && ofTenant + 1 > tenantWorkers)
    return `${tenantWorkers} workers may be at work at once, and ${ofTenant} are. Wait for some of them to end.`;
  return null;
}
