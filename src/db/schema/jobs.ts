import type { TraceParent } from '../../core/tracing/trace-parent.ts';
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  pgTable,
  smallint,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type { Actor } from '../../core/access/actor.ts';
import type { JobError } from '../../core/errors.ts';
import { INTERRUPT_MODES, JOB_KINDS, JOB_STATUSES, type CallFailure } from '../../core/run/job.ts';
import type { OutputSchema } from '../../core/run/output.ts';
import type { Throttled } from '../../core/run/throttle.ts';
import type { JsonObject } from '../../core/json.ts';
import { instant, json, jsonb, oneOf, tenantId, usageCounters, userName } from './columns.ts';

/** Background jobs, with their stop requests, attempts and outcomes. */
export const jobs = pgTable(
  'jobs',
  {
    id: uuid('id').primaryKey(),
    tenantId: tenantId(),
    contextId: uuid('context_id').notNull(),
    workerId: uuid('worker_id').notNull(),
    /** The end user on whose behalf it runs: the one of its input, else of its worker. Null: none. */
    user: userName(),
    kind: text('kind').notNull(),
    branch: text('branch').notNull(),
    status: text('status').notNull().default('queued'),
    /** 1 runs first … 10; 0: it interrupted the running job, and runs before all others. */
    priority: smallint('priority').notNull().default(5),
    /**
     * Its place in the context's queue within its priority: the `wake_seq` of its submission. 0 while it is delayed: it
     * gets a place when it joins the queue.
     */
    position: bigint('position', { mode: 'number' }).notNull(),
    /** The input it answers; null for a retry. */
    messageId: uuid('message_id'),
    turn: integer('turn').notNull().default(0),
    attempt: integer('attempt').notNull().default(0),
    failures: integer('failures').notNull().default(0),
    retryAt: instant('retry_at'),
    /** Of a job that was posted with a delay: when it joins the queue. It stays after that. */
    startsAt: instant('starts_at'),
    steps: integer('steps').notNull().default(0),
    maxSteps: integer('max_steps'),
    /** What its answer must match. Null: what the settings say. `json` keeps the order of the members. */
    outputSchema: json<OutputSchema>('output_schema'),
    /** How often the model was asked again because its answer did not match. */
    corrections: smallint('corrections').notNull().default(0),
    deadline: instant('deadline'),
    ...usageCounters(),
    outputMessageId: uuid('output_message_id'),
    /** Its output is JSON that matches its schema. */
    hasData: boolean('has_data').notNull().default(false),
    /**
     * Its entries in the context lie between these two numbers: the first is set at its admission, the last at its end.
     */
    firstSeq: bigint('first_seq', { mode: 'number' }),
    lastSeq: bigint('last_seq', { mode: 'number' }),
    /** Of an ended job: why it ended. Of an unfinished job: why the last model call failed. */
    error: jsonb<JobError | CallFailure | Throttled>('error'),
    /** The stop request, stored before any control signal is sent. */
    stopKind: text('stop_kind'),
    /** Of an interrupt: what happens to the messages that the job added. */
    stopMode: text('stop_mode'),
    stopReason: text('stop_reason'),
    /** Who requested it. Null: not known. */
    stopActor: jsonb<Actor>('stop_actor'),
    stopRequestedAt: instant('stop_requested_at'),
    stopDeliveredAt: instant('stop_delivered_at'),
    stoppedAt: instant('stopped_at'),
    parentJobId: uuid('parent_job_id'),
    parentToolCallId: uuid('parent_tool_call_id'),
    /** How many workers forwarded the request one to the next; 0: a client made it. */
    hops: smallint('hops').notNull().default(0),
    /** Its outcome is sent as an input to the worker that requested it: once it ends (`wanted`), or now (`due`). */
    parentNotice: text('parent_notice'),
    /** This input is the parent notice of that job. Unique. */
    noticeOfJobId: uuid('notice_of_job_id'),
    /** Its end must cascade to the jobs below it, and has not reached all of them yet. */
    cascade: text('cascade'),
    metadata: jsonb<JsonObject>('metadata').notNull(),
    /** Its place in the trace of its caller; null: its trace has the id of the job (`traceParentOfJob`). */
    traceParent: text('trace_parent').$type<TraceParent>(),
    /** Of a compaction job: the requested settings. */
    compaction: jsonb<JsonObject>('compaction'),
    /** Of the statement: its transaction may have begun before the occurrence of the schedule that it runs. */
    createdAt: instant('created_at')
      .notNull()
      .default(sql`statement_timestamp()`),
    startedAt: instant('started_at'),
    finishedAt: instant('finished_at'),
  },
  (t) => [
    uniqueIndex('jobs_one_active')
      .on(t.contextId)
      .where(sql`${t.status} in ('running', 'waiting')`),
    /** The next job of a context is its first entry, in the order in which it is asked for: nothing is sorted. */
    index('jobs_queue')
      .on(t.contextId, t.priority, t.position, t.id)
      .where(sql`${t.status} = 'queued'`),
    /** Lists those of a tenant by status, and counts those whose number is limited: queued and delayed ones. */
    index('jobs_unfinished')
      .on(t.tenantId, t.status, t.id)
      .where(sql`${t.status} in ('delayed', 'queued', 'running', 'waiting')`),
    /** Delayed jobs, by when they are due: of all, of a tenant, and of a context. */
    index('jobs_delayed')
      .on(t.startsAt)
      .where(sql`${t.status} = 'delayed'`),
    index('jobs_delayed_of_tenant')
      .on(t.tenantId, t.startsAt)
      .where(sql`${t.status} = 'delayed'`),
    index('jobs_delayed_of_context')
      .on(t.contextId, t.startsAt)
      .where(sql`${t.status} = 'delayed'`),
    uniqueIndex('jobs_spawned_once')
      .on(t.parentToolCallId)
      .where(sql`${t.parentToolCallId} is not null`),
    uniqueIndex('jobs_notice_once')
      .on(t.noticeOfJobId)
      .where(sql`${t.noticeOfJobId} is not null`),
    index('jobs_notice_due')
      .on(t.id)
      .where(sql`${t.parentNotice} = 'due'`),
    /** Stop requests that no run has answered yet. */
    index('jobs_stopping')
      .on(t.contextId)
      .where(sql`${t.stopKind} is not null and ${t.status} in ('running', 'waiting')`),
    index('jobs_cascading')
      .on(t.id)
      .where(sql`${t.cascade} is not null`),
    index('jobs_parent')
      .on(t.parentJobId)
      .where(sql`${t.parentJobId} is not null`),
    check('jobs_hops', sql`${t.hops} >= 0`),
    check('jobs_parent_notice', oneOf('parent_notice', ['wanted', 'due'])),
    check('jobs_cascade', oneOf('cascade', ['cancel', 'stop', 'interrupt'])),
    uniqueIndex('jobs_tenant').on(t.tenantId, t.id),
    index('jobs_context').on(t.contextId, t.id),
    /** Jobs that did not complete are few, and often searched. */
    index('jobs_ended_badly')
      .on(t.tenantId, t.status, t.id)
      .where(sql`${t.status} in ('incomplete', 'failed', 'cancelled', 'interrupted')`),
    index('jobs_user')
      .on(t.tenantId, t.user, t.id)
      .where(sql`${t.user} is not null`),
    /** Jobs without an input are few, too. */
    index('jobs_other_kind')
      .on(t.tenantId, t.kind, t.id)
      .where(sql`${t.kind} in ('retry', 'compact')`),
    /** Leaves out jobs with empty metadata. */
    index('jobs_metadata')
      .using('gin', t.metadata.op('jsonb_path_ops'))
      .where(sql`${t.metadata} <> '{}'`)
      .with({ gin_pending_list_limit: 1024 }),
    /** Written once per job, when it ends. */
    index('jobs_ended')
      .on(t.tenantId, t.finishedAt)
      .where(sql`${t.finishedAt} is not null`),
    check('jobs_kind', oneOf('kind', JOB_KINDS)),
    check('jobs_status', oneOf('status', JOB_STATUSES)),
    check('jobs_input_has_message', sql`(${t.kind} = 'input') = (${t.messageId} is not null)`),
    check('jobs_delayed_has_start', sql`${t.status} <> 'delayed' or ${t.startsAt} is not null`),
    check('jobs_started', sql`${t.status} not in ('running', 'waiting') or ${t.startedAt} is not null`),
    check(
      'jobs_finished',
      sql`(${t.status} in ('completed', 'incomplete', 'failed', 'cancelled', 'interrupted')) = (${t.finishedAt} is not null)`,
    ),
    check('jobs_failed_says_why', sql`${t.status} not in ('failed', 'incomplete') or ${t.error} is not null`),
    check(
      'jobs_data_is_output',
      sql`not ${t.hasData} or (${t.status} = 'completed' and ${t.outputMessageId} is not null)`,
    ),
    check('jobs_trace_parent', sql`${t.traceParent} ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'`),
    check('jobs_priority', sql`${t.priority} between 0 and 10`),
    check('jobs_stop_kind', oneOf('stop_kind', ['cancel', 'stop', 'interrupt'])),
    check('jobs_stop_mode', oneOf('stop_mode', INTERRUPT_MODES)),
    check(
      'jobs_interrupt_has_mode',
      sql`(${t.stopKind} is not distinct from 'interrupt') = (${t.stopMode} is not null)`,
    ),
    check('jobs_stop_actor', sql`${t.stopActor} is null or ${t.stopKind} is not null`),
    check('jobs_stop_request', sql`(${t.stopKind} is null) = (${t.stopRequestedAt} is null)`),
  ],
);
