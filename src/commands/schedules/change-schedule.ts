/**
 * Changes or deletes a schedule. Another timing or time zone, but not the same one again, starts again: what was missed is
 * forgotten. A schedule that is paused keeps its next occurrence, so that `catch_up` decides about missed ones when it
 * goes on.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ScheduleId, TenantId } from '../../core/ids.ts';
import { following, startOf } from '../../core/schedules/plan.ts';
import type { Schedule, Timing } from '../../core/schedules/schedule.ts';
import { changeSchedule as storeChange, deleteSchedule, lockSchedule } from '../../db/schedules/schedules.ts';
import { done, type Command } from '../perform.ts';
import { anchored, type GivenSettings, type GivenTiming } from './create-schedule.ts';
import { occurrencesOf, timingFault } from './occurrences.ts';
import { missingTarget, noSchedule } from './refusals.ts';

/** Refused: `not_found` (also the context), `invalid_request`. */
export function changeSchedule(tenantId: TenantId, id: ScheduleId, given: Partial<GivenSettings>): Command<Schedule> {
  return async (tx) => {
    const locked = await lockSchedule(tx, tenantId, id);
    if (locked === null) return noSchedule(id);
    const { schedule: old, now } = locked;
    const timing =
      given.timing === undefined || isSame(given.timing, old.timing) ? old.timing : anchored(given.timing, now);
    const target = isDeepStrictEqual(given.target, old.target) ? undefined : given.target;
    const changed: Schedule = { ...old, ...given, timing };
    const isRetimed = timing !== old.timing || changed.timezone !== old.timezone;
    const refusal =
      (isRetimed ? timingFault(timing, changed.timezone, now) : null) ??
      (target === undefined ? null : await missingTarget(tx, tenantId, target));
    if (refusal !== null) return refusal;
    const occurrences = occurrencesOf(timing, changed.timezone);
    const kept = old.nextOccurrence === null ? null : startOf(occurrences, changed, old.nextOccurrence);
    const next = isRetimed ? following(occurrences, changed, now) : kept;
    const pausedReason = changed.paused ? old.pausedReason : null;
    return done(await storeChange(tx, { ...changed, pausedReason }, next, target !== undefined));
  };
}

/** A timing that is given again does not start again: not the interval either, which keeps its beginning. */
function isSame(given: GivenTiming, old: Timing): boolean {
  switch (given.kind) {
    case 'cron':
      return old.kind === 'cron' && old.cron === given.cron;
    case 'every':
      return old.kind === 'every' && old.everyS === given.everyS;
    case 'at':
      return old.kind === 'at' && old.at === given.at;
  }
}

/** Jobs that it started go on. Refused: `not_found`. */
export function removeSchedule(tenantId: TenantId, id: ScheduleId): Command<object> {
  return async (tx) => ((await deleteSchedule(tx, tenantId, id)) ? done({}) : noSchedule(id));
}
