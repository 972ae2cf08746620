/** What holds of workers that workers make. */
import { LIMITS } from '../core/limits.ts';
import type { Role } from '../core/settings.ts';
import { WORKER_LIMITS } from '../core/worker-limits.ts';
import type { WorkerLimits } from '../core/worker-limits.ts';

export type TeamAbilities = {
  /** Of the config file. */
  roles: ReadonlyMap<string, Role>;
  limits: WorkerLimits;
  /** Of one tenant, at work at once; null: no limit. */
  tenantWorkers: number | null;
  /** Characters of a result. */
  toolResult: number;
};

/** Where the operator says nothing. */
export const TEAM_DEFAULTS: TeamAbilities = {
  roles: new Map(),
  limits: WORKER_LIMITS,
  tenantWorkers: null,
  toolResult: LIMITS.toolResult,
};
