/** Tenants as the API shows them. */
import type { TenantView } from '../../../core/access/tenant.ts';
import { LIMIT_NAMES, type LimitName, type TenantLimits } from '../../../core/access/quotas.ts';
import { toIso } from '../../request/instant.ts';
import type { Tenant } from '../../schemas/system/tenant.ts';

export function toTenant({ name, status, weight, limits, allow, createdAt, deletion }: TenantView): Tenant {
  const { tools = null, roles = null, mcp_servers = null, models = null } = allow;
  return {
    name,
    status,
    limits: { weight, ...shownLimits(limits) },
    allow: { tools, roles, mcp_servers, models },
    created_at: toIso(createdAt),
    deletion: deletion === null ? null : { requested_at: toIso(deletion.at), deleted_workers: deletion.workers },
  };
}

/** Each limit by its name; null: none. */
export function shownLimits(limits: TenantLimits): Record<LimitName, number | null> {
  const shown = LIMIT_NAMES.map((name) => [name, limits[name] ?? null] as const);
  return Object.fromEntries(shown) as Record<LimitName, number | null>;
}
