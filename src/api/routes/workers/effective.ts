/** Finds what applies to a worker or a role: `include=effective`. */
import type { Allow } from '../../../core/access/tenant.ts';
import type { Token } from '../../../core/access/tokens.ts';
import type { TenantId } from '../../../core/ids.ts';
import type { Effective } from '../../../core/workers/explained.ts';
import type { Role } from '../../../core/workers/settings.ts';
import type { WorkerView } from '../../../db/read/contexts/worker-views.ts';
import { findRole } from '../../../db/write/workers/roles.ts';
import type { EffectiveSettings } from '../../schemas/workers/effective.ts';
import type { ApiPorts } from '../../server/ports.ts';
import { refused } from '../../response/problem.ts';

type Ports = Pick<ApiPorts, 'database' | 'explain'>;

/** Throws for a token: roles, which it does not read otherwise, are part of the answer. */
export function requireNoToken({ token }: { token: Token | null }): void {
  if (token !== null)
    throw refused('forbidden', 'Tokens may not read effective settings. Use a key of the tenant.', 'include');
}

/** Null: this process does not know the role, or the provider of the model. */
export async function effectiveOfWorker(
  { database, explain }: Ports,
  { tenantId, allow }: { tenantId: TenantId; allow: Allow },
  { config, role, roleVersion }: WorkerView,
): Promise<EffectiveSettings | null> {
  const stored =
    role === null || roleVersion === null ? null : await findRole(database.db, tenantId, role, roleVersion);
  const found = explain({ config, role, from: stored?.definition ?? role, own: 'worker', allow });
  return found === null ? null : toEffective(found);
}

/** `from`: the name of a role in the config file, or the definition of a role of the API. */
export function effectiveOfRole(
  { explain }: Ports,
  { name, from, allow }: { name: string; from: string | Role; allow: Allow },
): EffectiveSettings | null {
  const found = explain({ config: {}, role: name, from, own: 'role', allow });
  return found === null ? null : toEffective(found);
}

function toEffective(effective: Effective): EffectiveSettings {
  const { settings, approval, limits, tools, unknownServers, notAllowed } = effective;
  return {
    ...settings,
    approval,
    limits,
    offered_tools: tools,
    unknown_servers: unknownServers,
    not_allowed: notAllowed,
  };
}
