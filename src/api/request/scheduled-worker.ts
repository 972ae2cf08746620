/** Checks the worker that the runs of a schedule create: when the schedule is stored, and again at each run. */
import type { ScheduleRole, SchedulePorts } from '../../commands/schedules/post-run.ts';
import type { Refusal } from '../../core/errors.ts';
import type { ScheduledWorker } from '../../core/schedules/schedule.ts';
import type { AllowedTenant } from '../../core/access/tenant.ts';
import { roleToMakeFrom } from '../response/roles.ts';
import { refusedName } from '../server/catalog.ts';
import type { ApiPorts } from '../server/ports.ts';

type Ports = Pick<ApiPorts, 'catalog' | 'database'>;

/** Refused: names that the tenant may not use, or that no live worker process serves, at their paths in the body of a schedule. */
export async function scheduledRole(
  ports: Ports,
  tenant: AllowedTenant,
  { role: name, config }: ScheduledWorker,
): Promise<ScheduleRole | Refusal> {
  const refusal = await refusedName(ports, tenant.allow, config, ['target', 'worker', 'config']);
  if (refusal !== null) return refusal;
  const role = await roleToMakeFrom(ports, tenant, name);
  if (role !== null && 'code' in role) return { ...role, param: 'target.worker.role' };
  return { kind: 'role', role };
}

export function schedulePorts(ports: ApiPorts): SchedulePorts {
  const { queueLimit } = ports.config;
  return { ...ports, queueLimit, roleOf: (tenant, worker) => scheduledRole(ports, tenant, worker) };
}
