/** Limits on creating child workers, and whether one more worker is allowed. */
import { LIMITS } from '../limits.ts';
import type { Source, Sourced } from './source.ts';

/** As written in a config, a role or the config file. */
export type WorkerLimitsConfig = { depth?: number; children?: number; workers?: number };

/** `depth`: of a worker (0: no parent). `children`: of one worker. `workers`: active in one tree. */
export type WorkerLimits = { depth: number; children: number; workers: number };

export const WORKER_LIMITS: WorkerLimits = {
  depth: LIMITS.workerDepth,
  children: LIMITS.workerChildren,
  workers: LIMITS.workersInTree,
};

export const TREE_LIMITS: TreeLimits = { limits: WORKER_LIMITS, tenantWorkers: null };

/** The lower limit of both, field by field. */
export function narrowed(wide: WorkerLimits, config: WorkerLimitsConfig): WorkerLimits {
  return { ...wide, ...narrowest(wide, config) };
}

/** What limits the workers below one: the lowest of the limits of the installation, of its role, and of its config. */
export type EffectiveLimits = { readonly [Limit in keyof WorkerLimits]: Sourced<number> };

/** The later layer counts only where it is lower. */
export function effectiveLimits(
  installation: EffectiveLimits,
  role: WorkerLimitsConfig,
  worker: WorkerLimitsConfig,
): EffectiveLimits {
  const lowest = (name: keyof WorkerLimits): Sourced<number> => {
    const wide = installation[name];
    const ofRole = lower(wide, role[name], 'role');
    return lower(ofRole, worker[name], 'worker');
  };
  return { depth: lowest('depth'), children: lowest('children'), workers: lowest('workers') };
}

type LimitOrigins = { readonly [Limit in keyof WorkerLimits]?: Source };

/** `origins`: which of them the operator has set; the others are built in. */
export function limitsOf(limits: WorkerLimits, origins: LimitOrigins): EffectiveLimits {
  const of = (name: keyof WorkerLimits) => ({ value: limits[name], source: origins[name] ?? ('default' as const) });
  return { depth: of('depth'), children: of('children'), workers: of('workers') };
}

export function limitValues({ depth, children, workers }: EffectiveLimits): WorkerLimits {
  return { depth: depth.value, children: children.value, workers: workers.value };
}

function lower(wide: Sourced<number>, own: number | undefined, source: Source): Sourced<number> {
  return own === undefined || own >= wide.value ? wide : { value: own, source };
}

/** The lower of both limits, field by field; a limit that neither sets stays unset. */
export function narrowest(one: WorkerLimitsConfig, other: WorkerLimitsConfig): WorkerLimitsConfig {
  const members = ['depth', 'children', 'workers'] as const;
  return Object.fromEntries(
    members.flatMap((name) => {
      const values = [one[name], other[name]].filter((limit) => limit !== undefined);
      return values.length === 0 ? [] : [[name, Math.min(...values)]];
    }),
  );
}

/** Limits for all trees, set by the operator. `tenantWorkers`: active workers of one tenant; null: no limit. */
export type TreeLimits = { limits: WorkerLimits; tenantWorkers: number | null };

/**
 * Counts around a worker that creates a child: its depth, its children, and the active workers of its tree and of its
 * tenant.
 */
export type WorkerCounts = { depth: number; children: number; inTree: number; ofTenant: number };

/** The reason for the model or the client; null: one more worker is allowed. `tenantWorkers` null: no limit. */
export function overLimit(
  { depth, children, inTree, ofTenant }: WorkerCounts,
  limits: WorkerLimits,
  tenantWorkers: number | null,
): string | null {
  if (depth + 1 > limits.depth)
    return `This worker is at depth ${depth} and the limit is ${limits.depth}, so it cannot create children.`;
  if (children + 1 > limits.children)
    return `This worker has ${children} of at most ${limits.children} children. Give the work to one of them, or remove some.`;
  if (inTree + 1 > limits.workers)
    return `${inTree} of at most ${limits.workers} workers of this tree are active. Wait for some of them to finish.`;
  if (tenantWorkers !== null && ofTenant + 1 > tenantWorkers)
    return `${ofTenant} of at most ${tenantWorkers} workers are active. Wait for some of them to finish.`;
  return null;
}
