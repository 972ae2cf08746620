/** Makes a schedule. Its names of models, tools and roles are checked already. */
import type { Actor } from '../../core/access/actor.ts';
import { refuse } from '../../core/errors.ts';
import type { Ids, ScheduleId, TenantId } from '../../core/ids.ts';
import { following } from '../../core/schedules/plan.ts';
import { SCHEDULE_LIMITS, type Schedule, type ScheduleSettings, type Timing } from '../../core/schedules/schedule.ts';
import { TENANT_INACTIVE } from '../../core/access/tenant.ts';
import type { Millis } from '../../core/time.ts';
import type { User } from '../../core/access/user.ts';
import { addSchedule, currentTime, lockSchedules } from '../../db/schedules/schedules.ts';
import { done, type Command } from '../perform.ts';
import { occurrencesOf, timingFault } from './occurrences.ts';
import { missingTarget } from './refusals.ts';

/** A timing as clients give it: an interval begins when it is stored. */
export type GivenTiming = Exclude<Timing, { kind: 'every' }> | { kind: 'every'; everyS: number };

export type GivenSettings = Omit<ScheduleSettings, 'timing'> & { timing: GivenTiming };

type NewSchedule = GivenSettings & { tenantId: TenantId; user: User | null; actor: Actor };

/** Refused: `not_found` (the context), `invalid_request` (the timing, or the tenant has too many schedules). */
export function createSchedule({ ids }: { ids: Ids }, given: NewSchedule): Command<Schedule> {
  return async (tx) => {
    const { tenantId, timezone, target } = given;
    const count = await lockSchedules(tx, tenantId);
    if (count === null) return TENANT_INACTIVE;
    if (count >= SCHEDULE_LIMITS.schedules) {
      const most = `A tenant has at most ${SCHEDULE_LIMITS.schedules} schedules. Delete some of them.`;
      return refuse('invalid_request', most);
    }
    const now = await currentTime(tx);
    const timing = anchored(given.timing, now);
    const refusal = timingFault(timing, timezone, now) ?? (await missingTarget(tx, tenantId, target));
    if (refusal !== null) return refusal;
    const id = ids.next<ScheduleId>();
    const schedule = { ...given, id, timing };
    const next = following(occurrencesOf(timing, timezone), schedule, now);
    return done(await addSchedule(tx, { ...schedule, next }));
  };
}

export function anchored(timing: GivenTiming, now: Millis): Timing {
  return timing.kind === 'every' ? { ...timing, anchor: now } : timing;
}
