/** Schedules, and the logs of their runs. Neither is deleted with the context to which a schedule posts. */
import { sql } from 'drizzle-orm';
import { boolean, check, foreignKey, index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import type { Actor } from '../../core/access/actor.ts';
import type { InputBlock } from '../../core/conversation/blocks.ts';
import type { ContextId, JobId, MessageId, ScheduleId, ScheduleRunId } from '../../core/ids.ts';
import {
  CATCH_UPS,
  OVERLAPS,
  RUN_STATUSES,
  type RunError,
  type ScheduledWorker,
} from '../../core/schedules/schedule.ts';
import { instant, json, jsonb, oneOf, tenantId, userName } from './columns.ts';

/** A schedule has one of `cron`, `every_s` and `once_at`, and one of `target_context_id` and `worker`. */
export const schedules = pgTable(
  'schedules',
  {
    id: uuid('id').primaryKey().$type<ScheduleId>(),
    tenantId: tenantId(),
    /** The end user on whose behalf its jobs run. Never changes. */
    user: userName(),
    /** Who made it. */
    actor: jsonb<Actor>('actor').notNull(),
    name: text('name').notNull(),
    cron: text('cron'),
    everyS: integer('every_s'),
    /** The start of its intervals. */
    anchorAt: instant('anchor_at'),
    onceAt: instant('once_at'),
    timezone: text('timezone').notNull(),
    targetContextId: uuid('target_context_id').$type<ContextId>(),
    worker: json<ScheduledWorker>('worker'),
    content: json<string | InputBlock[]>('content').notNull(),
    overlap: text('overlap').notNull(),
    catchUp: text('catch_up').notNull(),
    jitterS: integer('jitter_s').notNull(),
    paused: boolean('paused').notNull(),
    /** Why it paused itself. */
    pausedReason: text('paused_reason'),
    /** The next occurrence, without its delay. Null: there is none. A paused schedule keeps it. */
    nextOccurrence: instant('next_occurrence'),
    /** When a worker process takes it. Null: never, or it is paused. */
    nextRunAt: instant('next_run_at'),
    lastRunAt: instant('last_run_at'),
    /** The job of the last run that started one. The job may be deleted by now. */
    lastJobId: uuid('last_job_id').$type<JobId>(),
    /** Counts the changes by clients. */
    version: integer('version').notNull().default(1),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [
    index('schedules_of_tenant').on(t.tenantId, t.id),
    index('schedules_due_of_tenant')
      .on(t.tenantId, t.nextRunAt)
      .where(sql`${t.nextRunAt} is not null`),
    index('schedules_due')
      .on(t.nextRunAt)
      .where(sql`${t.nextRunAt} is not null`),
    check('schedules_timing', sql`num_nonnulls(${t.cron}, ${t.everyS}, ${t.onceAt}) = 1`),
    check('schedules_interval', sql`(${t.everyS} is null) = (${t.anchorAt} is null) and ${t.everyS} > 0`),
    check('schedules_target', sql`num_nonnulls(${t.targetContextId}, ${t.worker}) = 1`),
    check('schedules_overlap', oneOf('overlap', OVERLAPS)),
    check('schedules_catch_up', oneOf('catch_up', CATCH_UPS)),
    check('schedules_jitter', sql`${t.jitterS} >= 0`),
    check('schedules_due_has_occurrence', sql`${t.nextRunAt} is null or ${t.nextOccurrence} is not null`),
    check('schedules_paused_says_why', sql`${t.paused} or ${t.pausedReason} is null`),
    check('schedules_paused_is_not_due', sql`not ${t.paused} or ${t.nextRunAt} is null`),
  ],
);

/** The newest runs of each schedule. An occurrence has at most one. */
export const scheduleRuns = pgTable(
  'schedule_runs',
  {
    id: uuid('id').primaryKey().$type<ScheduleRunId>(),
    tenantId: tenantId(),
    scheduleId: uuid('schedule_id').notNull().$type<ScheduleId>(),
    /** Without its delay. Null: a manual run. Of `missed`: the first that was missed. */
    occurrence: instant('occurrence'),
    /** Of `missed`: the last that was missed. */
    missedUntil: instant('missed_until'),
    at: instant('at').notNull().defaultNow(),
    status: text('status').notNull(),
    /** Where it posted what. */
    targetContextId: uuid('target_context_id').$type<ContextId>(),
    jobId: uuid('job_id').$type<JobId>(),
    messageId: uuid('message_id').$type<MessageId>(),
    error: jsonb<RunError>('error'),
  },
  (t) => [
    foreignKey({ columns: [t.scheduleId], foreignColumns: [schedules.id] }).onDelete('cascade'),
    index('schedule_runs_of_schedule').on(t.scheduleId, t.id),
    index('schedule_runs_of_tenant').on(t.tenantId),
    uniqueIndex('schedule_runs_once')
      .on(t.scheduleId, t.occurrence)
      .where(sql`${t.occurrence} is not null`),
    check('schedule_runs_status', oneOf('status', RUN_STATUSES)),
    check('schedule_runs_started', sql`(${t.status} = 'started') = (${t.jobId} is not null)`),
    check('schedule_runs_failed_says_why', sql`(${t.status} = 'failed') = (${t.error} is not null)`),
    check('schedule_runs_missed', sql`(${t.status} = 'missed') = (${t.missedUntil} is not null)`),
    check('schedule_runs_manual', sql`${t.occurrence} is not null or ${t.status} = 'started'`),
  ],
);
