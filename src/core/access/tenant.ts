/** Tenants, as the operator manages them. */
import type { Actor } from './actor.ts';
import type { TenantId } from '../ids.ts';
import { refuse } from '../errors.ts';
import type { Millis } from '../time.ts';
import type { TenantLimits } from './quotas.ts';

/** `suspended`: every request is refused, and nothing runs. `deleting`: its data is being deleted. */
export const TENANT_STATUSES = ['active', 'suspended', 'deleting'] as const;
export type TenantStatus = (typeof TENANT_STATUSES)[number];

/** Names that the workers of a tenant may use, by kind. `*` stands for any characters. Missing: all. */
export type Allow = { tools?: string[]; roles?: string[]; mcp_servers?: string[]; models?: string[] };

/** A tenant, what its workers may use, and its limits. */
export type AllowedTenant = { tenantId: TenantId; allow: Allow; limits: TenantLimits };

/**
 * A deletion in progress: who asked for it, with which request, when, and how many workers are deleted already. `keys`:
 * ids of its keys of the environment, which stay refused. `knownAt`: all transactions that began later know of it; null:
 * not yet.
 */
export type Deletion = {
  actor: Actor;
  requestId: string;
  at: Millis;
  workers: number;
  keys: string[];
  knownAt: Millis | null;
};

/** Of a request that was admitted before the tenant was suspended or deleted. */
export const TENANT_INACTIVE = refuse(
  'tenant_suspended',
  'The tenant is not active: the operator of this installation has suspended it, or is deleting it.',
);

export const TENANT_SUSPENDED = refuse(
  'tenant_suspended',
  'The tenant is suspended: the operator of this installation has stopped it. Nothing is lost.',
);

/** Names that a list of `Allow` can have, at most. */
export const MOST_ALLOWED = 500;

export const LEAST_WEIGHT = 0.01;
export const MOST_WEIGHT = 100;

export type TenantView = {
  name: string;
  status: TenantStatus;
  weight: number;
  limits: TenantLimits;
  allow: Allow;
  createdAt: Millis;
  deletion: Deletion | null;
};
