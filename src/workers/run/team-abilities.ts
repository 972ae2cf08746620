/** Roles and limits for workers that other workers create. */
import { NO_LIMITS, type TenantLimits } from '../../core/access/quotas.ts';
import { LIMITS } from '../../core/limits.ts';
import type { Role } from '../../core/workers/settings.ts';
import { WORKER_LIMITS, type WorkerLimits } from '../../core/workers/worker-limits.ts';

export type TeamAbilities = {
  /** Roles of the config file. */
  roles: ReadonlyMap<string, Role>;
  limits: WorkerLimits;
  /** Active workers of one tenant at most; null: no limit. */
  tenantWorkers: number | null;
  /** Limits of tenants that have none of their own. */
  tenantLimits: TenantLimits;
  /** Characters of a tool result at most. */
  toolResult: number;
};

/** Defaults for what the config file does not set. */
export const TEAM_DEFAULTS: TeamAbilities = {
  roles: new Map(),
  limits: WORKER_LIMITS,
  tenantWorkers: null,
  tenantLimits: NO_LIMITS,
  toolResult: LIMITS.toolResult,
};
