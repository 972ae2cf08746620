/** Runs a schedule at once, also a paused one: a run beside its occurrences, whatever its overlap says. */
import { refuse } from '../../core/errors.ts';
import type { AllowedTenant } from '../../core/access/tenant.ts';
import type { ScheduleId, ScheduleRunId } from '../../core/ids.ts';
import { findSchedule, lockSchedule, noteRun } from '../../db/schedules/schedules.ts';
import { addRun } from '../../db/schedules/schedule-runs.ts';
import type { Accepted } from '../inputs/posted-input.ts';
import { done, type Command } from '../perform.ts';
import { NO_ROLE, postRun, type SchedulePorts } from './post-run.ts';
import { noSchedule } from './refusals.ts';

/** Refused: `not_found`, `version_conflict`, and like a message post, or the creation of a worker. */
export async function runNow(ports: SchedulePorts, tenant: AllowedTenant, id: ScheduleId): Promise<Command<Accepted>> {
  const { tenantId } = tenant;
  const found = await findSchedule(ports.database.db, tenantId, id);
  if (found === null) return async () => noSchedule(id);
  const { target } = found;
  const role = target.kind === 'context' ? NO_ROLE : await ports.roleOf(tenant, target.worker);
  if (role.kind === 'refused') return async () => role;
  return async (tx) => {
    const locked = await lockSchedule(tx, tenantId, id);
    if (locked === null) return noSchedule(id);
    const { schedule } = locked;
    if (schedule.version !== found.version)
      return refuse('version_conflict', 'The schedule was changed meanwhile. Repeat the request.');
    const posted = await postRun(tx, ports, schedule, { ...role, limits: tenant.limits });
    if (posted.kind === 'refused') return posted;
    const { jobId, contextId, messageId } = posted.value;
    await addRun(tx, {
      id: ports.ids.next<ScheduleRunId>(),
      tenantId,
      scheduleId: id,
      occurrence: null,
      missedUntil: null,
      status: 'started',
      jobId,
      contextId,
      messageId,
      error: null,
    });
    await noteRun(tx, id, jobId);
    return done(posted.value, ...posted.afterCommit);
  };
}
