/**
 * Checks the worker that the runs of a schedule create. A client that stores or runs the schedule gets the full check. At
 * an occurrence there is no client that could repeat a refused request: names that no worker process serves just now are
 * accepted then, and the job waits for a process that serves them.
 */
import type { ScheduleRole, SchedulePorts } from '../../commands/schedules/post-run.ts';
import { refuseAll, type Refusal } from '../../core/errors.ts';
import type { WorkerRole } from '../../core/workers/settings.ts';
import type { ScheduledWorker } from '../../core/schedules/schedule.ts';
import type { AllowedTenant } from '../../core/access/tenant.ts';
import { currentRole, roleToMakeFrom } from '../response/roles.ts';
import { disallowedNames, refusedName } from '../server/catalog.ts';
import type { ApiPorts } from '../server/ports.ts';

type Ports = Pick<ApiPorts, 'catalog' | 'database'>;

/** Path of the config in the body of a schedule. */
const CONFIG = ['target', 'worker', 'config'];

/** Refused: names that the tenant may not use, or that no live worker process serves. */
export async function scheduledRole(
  ports: Ports,
  tenant: AllowedTenant,
  { role, config }: ScheduledWorker,
): Promise<ScheduleRole | Refusal> {
  const refusal = await refusedName(ports, tenant.allow, config, CONFIG);
  return refusal ?? toRole(await roleToMakeFrom(ports, tenant, role));
}

/** Refused: names that the tenant may not use, or a role that it deleted. */
export async function roleAtOccurrence(
  ports: Ports,
  tenant: AllowedTenant,
  { role, config }: ScheduledWorker,
): Promise<ScheduleRole | Refusal> {
  const disallowed = refuseAll(disallowedNames(tenant.allow, config, CONFIG));
  return disallowed ?? toRole(await currentRole(ports, tenant, role));
}

function toRole(role: WorkerRole | Refusal | null): ScheduleRole | Refusal {
  return role !== null && 'code' in role ? { ...role, param: 'target.worker.role' } : { kind: 'role', role };
}

export function schedulePorts(ports: ApiPorts): SchedulePorts {
  const { queueLimit, tenantLimits } = ports.config;
  return { ...ports, queueLimit, tenantLimits, roleOf: (tenant, worker) => scheduledRole(ports, tenant, worker) };
}
