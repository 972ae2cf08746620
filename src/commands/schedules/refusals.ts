/** Why a schedule cannot be made, changed or run. */
import { refuse, type Refusal } from '../../core/errors.ts';
import type { ContextId, ScheduleId, TenantId } from '../../core/ids.ts';
import type { ScheduleTarget } from '../../core/schedules/schedule.ts';
import type { Executor } from '../../db/connection/client.ts';
import { admission } from '../../db/write/inputs/admission.ts';

export function noSchedule(id: ScheduleId): Refusal {
  return refuse('not_found', `No schedule has the id ${id}.`);
}

/** Null: the context exists, or the target is no context. */
export async function missingTarget(
  executor: Executor,
  tenantId: TenantId,
  target: ScheduleTarget,
): Promise<Refusal | null> {
  if (target.kind === 'worker' || (await admission(executor, tenantId, target.contextId)) !== null) return null;
  return noTarget(target.contextId);
}

function noTarget(id: ContextId): Refusal {
  return refuse('not_found', `No context has the id ${id}.`, 'target.context_id');
}
