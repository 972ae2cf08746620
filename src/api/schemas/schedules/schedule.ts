/** Schedules in the API. */
import { Type, type Static } from 'typebox';
import { CODES, type Code } from '../../../core/errors.ts';
import { CATCH_UPS, OVERLAPS, RUN_STATUSES, SCHEDULE_LIMITS } from '../../../core/schedules/schedule.ts';
import { integer, nullable, oneOf, plainText, ref, strict } from '../../../schema/build.ts';
import { RoleName, WorkerConfig } from '../../../schema/config.ts';
import { Actor } from '../actor.ts';
import { Instant, UserName, Uuid, described, listOf } from '../common.ts';
import { Content, ContentBlock } from '../messages/message.ts';

const { shortestS, longestS, jitterS } = SCHEDULE_LIMITS;

export const ScheduledWorker = strict(
  {
    name: plainText(200, 1),
    role: Type.Optional(nullable(RoleName)),
    config: Type.Optional(ref(WorkerConfig)),
  },
  { $id: 'ScheduledWorker', description: 'The worker that each run creates.' },
);

export const ScheduleTarget = strict(
  {
    context_id: Type.Optional(Uuid),
    worker: Type.Optional(ref(ScheduledWorker)),
  },
  { $id: 'ScheduleTarget', description: 'Exactly one of `context_id` and `worker`.' },
);
export type ScheduleTarget = Static<typeof ScheduleTarget>;

const settings = {
  name: plainText(200, 1),
  cron: plainText(
    200,
    1,
    'Five fields: minute, hour, day of month, month, day of week. Exactly one of cron, every_s and at is set.',
  ),
  every_s: integer(shortestS, longestS, 'Seconds between two runs. The first is one interval after this is set.'),
  at: described(Instant, 'One run, at this time in the future.'),
  timezone: plainText(100, 1, 'IANA time zone of cron. Default: UTC.'),
  target: ref(ScheduleTarget),
  content: Content,
  overlap: oneOf(
    OVERLAPS,
    'What to do while the job of the last run is unfinished. queue: post the input. skip: post nothing. interrupt: cancel that job, and post the input. Default: queue.',
  ),
  catch_up: oneOf(
    CATCH_UPS,
    `Which occurrences run late that were missed by more than a minute, or during a pause. none: none of them. one: one run for all. all: each, but at most the newest ${SCHEDULE_LIMITS.catchUp}. Default: one.`,
  ),
  jitter_s: integer(
    0,
    jitterS,
    'Each occurrence starts up to so many seconds late, but before the next one. Default: 0.',
  ),
  paused: Type.Boolean({ description: 'Default: false.' }),
};

const optional = {
  cron: Type.Optional(settings.cron),
  every_s: Type.Optional(settings.every_s),
  at: Type.Optional(settings.at),
  timezone: Type.Optional(settings.timezone),
  overlap: Type.Optional(settings.overlap),
  catch_up: Type.Optional(settings.catch_up),
  jitter_s: Type.Optional(settings.jitter_s),
  paused: Type.Optional(settings.paused),
};

export const CreateSchedule = strict(
  {
    name: settings.name,
    target: settings.target,
    content: settings.content,
    user: Type.Optional(UserName),
    ...optional,
  },
  { $id: 'CreateSchedule' },
);
export type CreateSchedule = Static<typeof CreateSchedule>;

export const PatchSchedule = strict(
  {
    name: Type.Optional(settings.name),
    target: Type.Optional(settings.target),
    content: Type.Optional(settings.content),
    ...optional,
  },
  { $id: 'PatchSchedule' },
);
export type PatchSchedule = Static<typeof PatchSchedule>;

export const ScheduleRunError = strict(
  { code: oneOf(Object.keys(CODES) as Code[]), message: Type.String() },
  { $id: 'ScheduleRunError' },
);

export const ScheduleRun = strict(
  {
    id: Uuid,
    occurrence: nullable(
      described(Instant, 'When it was to run, without jitter. Of missed: the first occurrence. Null: a manual run.'),
    ),
    missed_until: nullable(described(Instant, 'Of missed: the last occurrence that was missed.')),
    at: described(Instant, 'When it ran, or was skipped, or was found to be missed.'),
    status: oneOf(RUN_STATUSES, 'started: the input was posted; the job tells how it goes on.'),
    job_id: nullable(Uuid),
    context_id: nullable(Uuid),
    message_id: nullable(Uuid),
    error: nullable(described(ref(ScheduleRunError), 'Why nothing was posted.')),
    manual: Type.Boolean(),
  },
  { $id: 'ScheduleRun' },
);
export type ScheduleRun = Static<typeof ScheduleRun>;

export const ScheduleRunList = listOf('ScheduleRunList', ScheduleRun);

export const Schedule = strict(
  {
    id: Uuid,
    name: Type.String(),
    user: nullable(described(Type.String(), 'On whose behalf its jobs run. Null: that of the context.')),
    created_by: ref(Actor),
    cron: nullable(Type.String()),
    every_s: nullable(Type.Integer()),
    at: nullable(Instant),
    timezone: Type.String(),
    target: ref(ScheduleTarget),
    content: described(Type.Union([Type.String(), Type.Array(ref(ContentBlock))]), 'As it was given.'),
    overlap: oneOf(OVERLAPS),
    catch_up: oneOf(CATCH_UPS),
    jitter_s: Type.Integer(),
    paused: Type.Boolean(),
    paused_reason: nullable(Type.String({ description: 'Why it paused itself.' })),
    next_run_at: nullable(described(Instant, 'Null: it is paused, or has run for the last time.')),
    last_run_at: nullable(described(Instant, 'When a run last posted an input.')),
    last_run: nullable(ref(ScheduleRun)),
    created_at: Instant,
    updated_at: Instant,
  },
  { $id: 'Schedule' },
);
export type Schedule = Static<typeof Schedule>;

export const ScheduleList = listOf('ScheduleList', Schedule);
