/**
 * Tool calls, their executions and steps, what tools report, the jobs that calls wait for, approvals in advance, and what
 * tenants use of each tool.
 */
import { sql } from 'drizzle-orm';
import { bigint, check, index, integer, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import type { Actor } from '../../core/access/actor.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { CALL_STATUSES, WAITS_FOR } from '../../core/tools/tool-call.ts';
import { ENTRY_LEVELS, type CallProgress, type EntryLevel } from '../../core/tools/report.ts';
import { EFFECTS, ON_UNKNOWN } from '../../core/tools/tool.ts';
import type { UseFailure } from '../../core/tools/tool-use.ts';
import { instant, json, jsonb, oneOf, tenantId } from './columns.ts';
import { contexts } from './contexts.ts';

/** Requested tool calls, from the assistant's message until their result is in the history. */
export const toolCalls = pgTable(
  'tool_calls',
  {
    id: uuid('id').primaryKey(),
    tenantId: tenantId(),
    contextId: uuid('context_id').notNull(),
    jobId: uuid('job_id').notNull(),
    messageId: uuid('message_id').notNull(),
    ordinal: integer('ordinal').notNull(),
    name: text('name').notNull(),
    effect: text('effect').notNull(),
    onUnknown: text('on_unknown').notNull(),
    status: text('status').notNull().default('pending'),
    startedEpoch: bigint('started_epoch', { mode: 'number' }),
    /** Of a waiting call: when the wait began, and when it expires. */
    askedAt: instant('asked_at'),
    expiresAt: instant('expires_at'),
    /** The reply, until the run that owns the lease adds it to the history. Of a question it stays. */
    reply: json<JsonObject>('reply'),
    /** What the call waits for, or last waited for. Null while `waiting`: an answer, written by an older release. */
    waitsFor: text('waits_for'),
    /** The approval decision of a person or a policy, and its time. */
    approval: json<JsonObject>('approval'),
    approvalAt: instant('approval_at'),
    /** Of a call that waits for workers: how many of their jobs must still end. */
    needs: integer('needs'),
    createdAt: instant('created_at').notNull().defaultNow(),
    startedAt: instant('started_at'),
    finishedAt: instant('finished_at'),
  },
  (t) => [
    uniqueIndex('tool_calls_place').on(t.messageId, t.ordinal),
    index('tool_calls_open')
      .on(t.contextId)
      .where(sql`${t.status} in ('pending', 'started', 'waiting')`),
    index('tool_calls_job').on(t.contextId, t.jobId),
    /** Calls that wait for a person or a client, oldest first. */
    index('tool_calls_inbox')
      .on(t.tenantId, t.askedAt, t.id)
      .where(
        sql`${t.status} = 'waiting' and ${t.reply} is null and ${t.waitsFor} in ('approval', 'answer', 'outcome')`,
      ),
    /** Satisfied waits for workers, whose context may not have been woken yet. */
    index('tool_calls_met')
      .on(t.contextId)
      .where(sql`${t.status} = 'waiting' and ${t.needs} <= 0`),
    check('tool_calls_effect', oneOf('effect', EFFECTS)),
    check('tool_calls_on_unknown', oneOf('on_unknown', ON_UNKNOWN)),
    check('tool_calls_status', oneOf('status', CALL_STATUSES)),
    check('tool_calls_waits_for', oneOf('waits_for', WAITS_FOR)),
    check('tool_calls_approval', sql`(${t.approval} is null) = (${t.approvalAt} is null)`),
    check('tool_calls_needs', sql`(${t.waitsFor} is not distinct from 'workers') = (${t.needs} is not null)`),
    check('tool_calls_finished', sql`(${t.status} in ('pending', 'started', 'waiting')) = (${t.finishedAt} is null)`),
    check(
      'tool_calls_started',
      sql`${t.status} <> 'started' or (${t.startedEpoch} is not null and ${t.effect} = 'once')`,
    ),
    check('tool_calls_waiting', sql`${t.status} <> 'waiting' or ${t.askedAt} is not null`),
  ],
);

/** The execution log: each execution of a call, from its start to its outcome. */
export const toolExecutions = pgTable(
  'tool_executions',
  {
    toolCallId: uuid('tool_call_id').notNull(),
    /** From 1. */
    number: integer('number').notNull(),
    tenantId: tenantId(),
    contextId: uuid('context_id').notNull(),
    /** The epoch of the lease under which it ran. */
    epoch: bigint('epoch', { mode: 'number' }).notNull(),
    /** Passed to the tool, so that it can detect a repeated execution. */
    idempotencyKey: text('idempotency_key').notNull(),
    beganAt: instant('began_at').notNull(),
    endedAt: instant('ended_at'),
    /** Null: it is running, or its outcome has not been determined yet. */
    outcome: text('outcome'),
  },
  (t) => [
    primaryKey({ columns: [t.toolCallId, t.number] }),
    index('tool_executions_context').on(t.contextId),
    check('tool_executions_number', sql`${t.number} > 0`),
    check(
      'tool_executions_outcome',
      oneOf('outcome', ['completed', 'failed', 'cancelled', 'unknown', 'did_not_happen']),
    ),
    check('tool_executions_ended', sql`(${t.endedAt} is null) = (${t.outcome} is null)`),
  ],
);

/** Durable steps of a call: what a further execution does not run again. */
export const toolSteps = pgTable(
  'tool_steps',
  {
    toolCallId: uuid('tool_call_id').notNull(),
    name: text('name').notNull(),
    tenantId: tenantId(),
    contextId: uuid('context_id').notNull(),
    /** Of any type: an object holds it, because the columns of this type hold objects. */
    result: json<{ value: Json }>('result').notNull(),
    /** Of the JSON of `value`. */
    bytes: integer('bytes').notNull(),
    endedAt: instant('ended_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.toolCallId, t.name] }),
    index('tool_steps_context').on(t.contextId),
    check('tool_steps_bytes', sql`${t.bytes} > 0`),
  ],
);

/** Jobs whose end a call of another context waits for. */
export const awaitedJobs = pgTable(
  'awaited_jobs',
  {
    toolCallId: uuid('tool_call_id').notNull(),
    jobId: uuid('job_id').notNull(),
    tenantId: tenantId(),
    /** The context of the call. */
    contextId: uuid('context_id').notNull(),
    workerId: uuid('worker_id').notNull(),
    ordinal: integer('ordinal').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.toolCallId, t.jobId] }),
    index('awaited_jobs_job').on(t.jobId),
    index('awaited_jobs_context').on(t.contextId),
  ],
);

/** Calls of a tool that a person has approved in advance, in one context. */
export const approvalGrants = pgTable(
  'approval_grants',
  {
    contextId: uuid('context_id')
      .notNull()
      .references(() => contexts.id, { onDelete: 'cascade' }),
    tool: text('tool').notNull(),
    tenantId: tenantId(),
    /** Who decided. */
    actor: jsonb<Actor>('actor').notNull(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.contextId, t.tool] })],
);

/** The log of a call, as its tool wrote it. */
export const toolLogs = pgTable(
  'tool_logs',
  {
    contextId: uuid('context_id').notNull(),
    jobId: uuid('job_id').notNull(),
    /** Of the lease under which the run was claimed. A later run has a higher one. */
    epoch: bigint('epoch', { mode: 'number' }).notNull(),
    /** Counts the entries of the run, from 1. */
    number: integer('number').notNull(),
    tenantId: tenantId(),
    /** A call without effect may have run before its answer was stored: then no such call exists if it never was. */
    toolCallId: uuid('tool_call_id').notNull(),
    attempt: integer('attempt').notNull(),
    level: text('level').notNull().$type<EntryLevel>(),
    message: text('message').notNull(),
    fields: json<JsonObject>('fields'),
    at: instant('at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.contextId, t.jobId, t.epoch, t.number] }),
    index('tool_logs_call').on(t.toolCallId, t.epoch, t.number),
    check('tool_logs_level', oneOf('level', ENTRY_LEVELS)),
    check('tool_logs_number', sql`${t.number} > 0`),
  ],
);

/** A summary of each execution of a call that reported anything. */
export const toolReports = pgTable(
  'tool_reports',
  {
    toolCallId: uuid('tool_call_id').notNull(),
    /** As in `tool_logs`. */
    epoch: bigint('epoch', { mode: 'number' }).notNull(),
    /** Counts the executions of the run that reported anything, from 1. */
    ordinal: integer('ordinal').notNull(),
    tenantId: tenantId(),
    contextId: uuid('context_id').notNull(),
    /** The process that runs the call counts what it stores. */
    version: integer('version').notNull(),
    /** The last one. */
    progress: jsonb<CallProgress>('progress'),
    /** Of the log: stored ones, and those beyond the limits. */
    entries: integer('entries').notNull(),
    dropped: integer('dropped').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.toolCallId, t.epoch, t.ordinal] }),
    index('tool_reports_context').on(t.contextId),
    check('tool_reports_ordinal', sql`${t.ordinal} > 0`),
    check('tool_reports_counts', sql`${t.entries} >= 0 and ${t.dropped} >= 0`),
  ],
);

/** Ended calls of a tool in one hour, as worker processes counted them (`core/tools/tool-use.ts`). */
export const toolUse = pgTable(
  'tool_use',
  {
    tenantId: tenantId(),
    hour: instant('hour').notNull(),
    tool: text('tool').notNull(),
    completed: integer('completed').notNull(),
    failed: integer('failed').notNull(),
    denied: integer('denied').notNull(),
    expired: integer('expired').notNull(),
    unknown: integer('unknown').notNull(),
    /** Failed calls by code. */
    codes: jsonb<Record<string, number>>('codes').notNull(),
    /** Calls that ran, by duration (`USE_BOUNDS`). */
    times: integer('times').array().notNull(),
    lastAt: instant('last_at').notNull(),
    /** The last failures, newest first. */
    failures: jsonb<UseFailure[]>('failures').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.hour, t.tool] }), index('tool_use_hour').on(t.hour)],
);
