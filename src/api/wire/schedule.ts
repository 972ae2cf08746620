/** Schedules as the API shows them, and as clients give them. */
import type { GivenSettings, GivenTiming } from '../../commands/schedules/create-schedule.ts';
import { toPublicActor } from '../../core/access/actor.ts';
import { parseId, type ContextId } from '../../core/ids.ts';
import type {
  Schedule as Stored,
  ScheduleRun as StoredRun,
  ScheduleTarget as Target,
} from '../../core/schedules/schedule.ts';
import { parseInstant, toIso, toIsoOrNull } from '../request/instant.ts';
import { invalid, refused } from '../response/problem.ts';
import type {
  CreateSchedule,
  PatchSchedule,
  Schedule,
  ScheduleRun,
  ScheduleTarget,
} from '../schemas/schedules/schedule.ts';

export function toSchedule(schedule: Stored, lastRun: StoredRun | null): Schedule {
  const { id, name, user, actor, timing, timezone, target, content, overlap, paused } = schedule;
  return {
    id,
    name,
    user,
    created_by: toPublicActor(actor),
    cron: timing.kind === 'cron' ? timing.cron : null,
    every_s: timing.kind === 'every' ? timing.everyS : null,
    at: timing.kind === 'at' ? toIso(timing.at) : null,
    timezone,
    target: target.kind === 'context' ? { context_id: target.contextId } : { worker: target.worker },
    content,
    overlap,
    catch_up: schedule.catchUp,
    jitter_s: schedule.jitterS,
    paused,
    paused_reason: schedule.pausedReason,
    next_run_at: toIsoOrNull(schedule.nextRunAt),
    last_run_at: toIsoOrNull(schedule.lastRunAt),
    last_run: lastRun === null ? null : toScheduleRun(lastRun),
    created_at: toIso(schedule.createdAt),
    updated_at: toIso(schedule.updatedAt),
  };
}

export function toScheduleRun(run: StoredRun): ScheduleRun {
  const { id, occurrence, missedUntil, at, status, jobId, contextId, messageId, error, manual } = run;
  return {
    id,
    occurrence: toIsoOrNull(occurrence),
    missed_until: toIsoOrNull(missedUntil),
    at: toIso(at),
    status,
    job_id: jobId,
    context_id: contextId,
    message_id: messageId,
    error,
    manual,
  };
}

/** Throws `RequestRefused`. */
export function newSettings(body: CreateSchedule): GivenSettings {
  const timing = timingOf(body);
  if (timing === null) throw invalid('A schedule needs one of cron, every_s and at.');
  return {
    name: body.name,
    timing,
    timezone: body.timezone ?? 'UTC',
    target: targetOf(body.target),
    content: body.content,
    overlap: body.overlap ?? 'queue',
    catchUp: body.catch_up ?? 'one',
    jitterS: body.jitter_s ?? 0,
    paused: body.paused ?? false,
  };
}

/** The settings that the body has. Throws `RequestRefused`. */
export function changedSettings(body: PatchSchedule): Partial<GivenSettings> {
  const timing = timingOf(body);
  const { name, timezone, target, content, overlap, catch_up: catchUp, jitter_s: jitterS, paused } = body;
  return {
    ...(name !== undefined && { name }),
    ...(timing !== null && { timing }),
    ...(timezone !== undefined && { timezone }),
    ...(target !== undefined && { target: targetOf(target) }),
    ...(content !== undefined && { content }),
    ...(overlap !== undefined && { overlap }),
    ...(catchUp !== undefined && { catchUp }),
    ...(jitterS !== undefined && { jitterS }),
    ...(paused !== undefined && { paused }),
  };
}

/** Null: none is given. */
function timingOf({ cron, every_s: everyS, at: text }: PatchSchedule): GivenTiming | null {
  if ([cron, everyS, text].filter((given) => given !== undefined).length > 1)
    throw invalid('A schedule has only one of cron, every_s and at.');
  if (cron !== undefined) return { kind: 'cron', cron };
  if (everyS !== undefined) return { kind: 'every', everyS };
  const at = parseInstant(text, 'at');
  return at === null ? null : { kind: 'at', at };
}

function targetOf({ context_id, worker }: ScheduleTarget): Target {
  if ((context_id === undefined) === (worker === undefined))
    throw invalid('A target has exactly one of context_id and worker.', 'target');
  if (worker !== undefined) {
    const { name, role = null, config = {} } = worker;
    return { kind: 'worker', worker: { name, role, config } };
  }
  const contextId = parseId<ContextId>(context_id ?? '');
  if (contextId === null) throw refused('not_found', `No context has the id ${context_id}.`, 'target.context_id');
  return { kind: 'context', contextId };
}
