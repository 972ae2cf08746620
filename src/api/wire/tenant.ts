/** Tenants as the API shows them. */
import type { TenantView } from '../../core/access/tenant.ts';
import { toIso } from '../request/instant.ts';
import type { Tenant } from '../schemas/system/tenant.ts';

export function toTenant({ name, status, weight, allow, createdAt, deletion }: TenantView): Tenant {
  const { tools = null, roles = null, mcp_servers = null, models = null } = allow;
  return {
    name,
    status,
    limits: { weight },
    allow: { tools, roles, mcp_servers, models },
    created_at: toIso(createdAt),
    deletion: deletion === null ? null : { requested_at: toIso(deletion.at), deleted_workers: deletion.workers },
  };
}
