/**
 * The database tables. CHECKs and unique indexes repeat the invariants of the protocols, so that a bug makes a
 * statement fail instead of corrupting a conversation. Every row has `tenant_id`. The application generates the ids.
 *
 * `contexts` is narrow and updated often: it has no index on columns that change with every append, which leaves room
 * for in-place (HOT) updates. Messages, jobs, tool calls and events have no foreign key to it: every statement that
 * inserts them joins an update of the context's row, so that no row exists without its context.
 */
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  foreignKey,
  index,
  integer,
  customType,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type { Block } from '../../core/conversation/blocks.ts';
import type { Span } from '../../core/conversation/branch.ts';
import type { JobError } from '../../core/errors.ts';
import type { Fingerprint } from '../../core/model/fingerprint.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { ToolSpec } from '../../core/model/model.ts';
import type { Role, WorkerConfig } from '../../core/workers/settings.ts';
import { encodeJson } from '../connection/codec.ts';

const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 });
/** Encodes characters that PostgreSQL rejects (see codec.ts). The driver's parser decodes them. */
const encoded =
  (dataType: 'json' | 'jsonb') =>
  <T>(name: string) =>
    customType<{ data: T; driverData: string }>({
      dataType: () => dataType,
      toDriver: (value) => encodeJson(value),
    })(name);
/**
 * For data sent to a provider or shown to the model's tools: it keeps its exact text. `jsonb` reorders object members,
 * and a prompt read back from it would miss the provider's cache.
 */
const json = encoded('json');
const jsonb = encoded('jsonb');
/** Billionths of a US dollar. Null: the price is not known. */
const cost = () => bigint('cost_nanos', { mode: 'number' });
const counter = (name: string) => bigint(name, { mode: 'number' }).notNull().default(0);
const oneOf = (column: string, values: readonly string[]) =>
  sql.raw(`${column} in (${values.map((value) => `'${value}'`).join(', ')})`);

/** Mailbox, lease and counters of one context: only the data that processes must agree on. */
export const contexts = pgTable(
  'contexts',
  {
    id: uuid('id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    /** Whether and when a worker process may run it. */
    schedulingStatus: text('scheduling_status').notNull().default('idle'),
    /** The state that clients see. */
    state: text('state').notNull().default('Idle'),
    stateSince: instant('state_since').notNull().defaultNow(),
    /** The last sequence number. Messages and events of the context share one sequence without gaps. */
    headSeq: counter('head_seq'),
    /** The number of wake-ups. */
    wakeSeq: counter('wake_seq'),
    /** The number of control signals to its lease owner. */
    controlSeq: counter('control_seq'),
    leaseOwner: uuid('lease_owner'),
    leaseEpoch: counter('lease_epoch'),
    /** When a sweep checks it: set while no process runs it, and while a stop request has no answer. */
    nextCheckAt: instant('next_check_at'),
    activeBranch: text('active_branch').notNull().default('main'),
    stopped: boolean('stopped').notNull().default(false),
    /** Queued jobs of every kind. */
    queued: integer('queued').notNull().default(0),
    /** Inputs that wait to join the running job. */
    steers: integer('steers').notNull().default(0),
    /** Claims in a row without progress. */
    failedClaims: smallint('failed_claims').notNull().default(0),
    messageCount: counter('message_count'),
    turnCount: counter('turn_count'),
    requestCount: counter('request_count'),
    inputTokens: counter('input_tokens'),
    outputTokens: counter('output_tokens'),
    cacheReadTokens: counter('cache_read_tokens'),
    cacheWriteTokens: counter('cache_write_tokens'),
    costNanos: cost(),
    /** Why the last job failed; cleared when a job completes. */
    lastFailure: jsonb<JobError & { job_id: string; at: string }>('last_failure'),
  },
  (t) => [
    check(
      'contexts_scheduling_status',
      oneOf('scheduling_status', ['idle', 'runnable', 'running', 'waiting']),
    ),
    check(
      'contexts_running_is_owned',
      sql`(${t.schedulingStatus} = 'running') = (${t.leaseOwner} is not null)`,
    ),
    check('contexts_idle_has_no_check', sql`${t.schedulingStatus} <> 'idle' or ${t.nextCheckAt} is null`),
    check(
      'contexts_unowned_has_check',
      sql`${t.schedulingStatus} not in ('runnable', 'waiting') or ${t.nextCheckAt} is not null`,
    ),
    check('contexts_queued', sql`${t.queued} >= 0 and ${t.steers} >= 0`),
    index('contexts_due')
      .on(t.nextCheckAt)
      .where(sql`${t.nextCheckAt} is not null`),
    index('contexts_owned')
      .on(t.leaseOwner)
      .where(sql`${t.leaseOwner} is not null`),
    uniqueIndex('contexts_tenant').on(t.tenantId, t.id),
  ],
);

/** A worker's identity and settings. Each worker owns exactly one context. `version` covers both. */
export const workers = pgTable(
  'workers',
  {
    id: uuid('id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    contextId: uuid('context_id').notNull(),
    name: text('name').notNull(),
    title: text('title'),
    role: text('role'),
    /** The version of its API role when the worker was created. Null: no role, or a role of the config file. */
    roleVersion: integer('role_version'),
    config: json<WorkerConfig>('config').notNull(),
    version: integer('version').notNull().default(1),
    parentWorkerId: uuid('parent_worker_id'),
    /** The context that its context was forked from. */
    parentContextId: uuid('parent_context_id'),
    /** The first context of a chain of forks, whose prompts share a prefix. Null: its own context. */
    rootContextId: uuid('root_context_id'),
    /** When a sweep checks whether its idle timeout has passed; updated lazily. Null: never. */
    expiresAt: instant('expires_at'),
    /** Set when its idle timeout passed: it is left out of lists, and purged after the retention time. */
    archivedAt: instant('archived_at'),
    depth: integer('depth').notNull().default(0),
    /** The root of its worker tree. Null: itself. */
    rootWorkerId: uuid('root_worker_id'),
    /** It continues when its parent is stopped or deleted. */
    detached: boolean('detached').notNull().default(false),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [
    foreignKey({ columns: [t.contextId], foreignColumns: [contexts.id] }).onDelete('cascade'),
    uniqueIndex('workers_context').on(t.contextId),
    uniqueIndex('workers_tenant').on(t.tenantId, t.id),
    index('workers_parent')
      .on(t.parentWorkerId)
      .where(sql`${t.parentWorkerId} is not null`),
    index('workers_root')
      .on(t.rootWorkerId)
      .where(sql`${t.rootWorkerId} is not null`),
    /** Serves lists of jobs filtered by role. */
    index('workers_role')
      .on(t.tenantId, t.role)
      .where(sql`${t.role} is not null`),
    index('workers_expiring')
      .on(t.expiresAt)
      .where(sql`${t.expiresAt} is not null`),
    index('workers_archived')
      .on(t.archivedAt)
      .where(sql`${t.archivedAt} is not null`),
  ],
);

/**
 * A branch, with its fork point on its parent. Its own messages have higher numbers than its creation, so that a reused
 * branch name does not show messages of the old branch, and a cleared branch none from before.
 */
export const branches = pgTable(
  'branches',
  {
    contextId: uuid('context_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    name: text('name').notNull(),
    parentName: text('parent_name'),
    forkSeq: bigint('fork_seq', { mode: 'number' }),
    /**
     * All spans that it reads, in order: those shared with its ancestors, and last its own open span. Null: every
     * message with its name.
     */
    spans: jsonb<Span[]>('spans'),
    /** Counters of its own span, from the jobs that ended on it. */
    messageCount: counter('message_count'),
    requestCount: counter('request_count'),
    inputTokens: counter('input_tokens'),
    outputTokens: counter('output_tokens'),
    cacheReadTokens: counter('cache_read_tokens'),
    cacheWriteTokens: counter('cache_write_tokens'),
    costNanos: cost(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.contextId, t.name] }),
    foreignKey({ columns: [t.contextId], foreignColumns: [contexts.id] }).onDelete('cascade'),
    check('branches_fork', sql`(${t.parentName} is null) = (${t.forkSeq} is null)`),
  ],
);

/** Immutable entries. A queued input has no sequence number yet. */
export const messages = pgTable(
  'messages',
  {
    id: uuid('id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    contextId: uuid('context_id').notNull(),
    branch: text('branch').notNull(),
    seq: bigint('seq', { mode: 'number' }),
    role: text('role').notNull(),
    type: text('type').notNull(),
    turn: text('turn'),
    status: text('status').notNull(),
    content: json<Block[]>('content').notNull(),
    /** The size of its content, known without reading the content. */
    bytes: integer('bytes')
      .notNull()
      .generatedAlwaysAs(sql`octet_length(content::text)`),
    jobId: uuid('job_id'),
    /** The worker that sent this input. Null: a client sent it. */
    senderWorkerId: uuid('sender_worker_id'),
    modelId: text('model_id'),
    providerId: text('provider_id'),
    inputTokens: integer('input_tokens'),
    outputTokens: integer('output_tokens'),
    cacheReadTokens: integer('cache_read_tokens'),
    cacheWriteTokens: integer('cache_write_tokens'),
    costNanos: cost(),
    finishReason: text('finish_reason'),
    /** The model call that produced it: its attempt, when the request was sent, and when the first byte arrived. */
    attempt: integer('attempt'),
    calledAt: instant('called_at'),
    firstByteAt: instant('first_byte_at'),
    /** The fingerprint of that call's request. */
    prompt: jsonb<Fingerprint>('prompt'),
    createdAt: instant('created_at').notNull().defaultNow(),
    completedAt: instant('completed_at'),
  },
  (t) => [
    uniqueIndex('messages_seq')
      .on(t.contextId, t.seq)
      .where(sql`${t.seq} is not null`),
    index('messages_branch').on(t.contextId, t.branch, t.seq),
    check('messages_role', oneOf('role', ['user', 'assistant', 'system', 'tool'])),
    check('messages_type', oneOf('type', ['text', 'plan', 'question', 'tool_call', 'tool_result'])),
    check('messages_status', oneOf('status', ['queued', 'completed', 'retracted', 'withdrawn'])),
    check('messages_numbered', sql`(${t.status} in ('completed', 'retracted')) = (${t.seq} is not null)`),
    check('messages_turn', sql`(${t.status} in ('completed', 'retracted')) = (${t.turn} is not null)`),
    check('messages_only_inputs_queue', sql`${t.status} in ('completed', 'retracted') or ${t.role} = 'user'`),
  ],
);

/** Background jobs, with their stop requests, attempts and outcomes. */
export const jobs = pgTable(
  'jobs',
  {
    id: uuid('id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    contextId: uuid('context_id').notNull(),
    workerId: uuid('worker_id').notNull(),
    kind: text('kind').notNull(),
    branch: text('branch').notNull(),
    status: text('status').notNull().default('queued'),
    /** 1 runs first … 10; 0: it interrupted the running job, and runs before all others. */
    priority: smallint('priority').notNull().default(5),
    /** Its place in the context's queue within its priority: the `wake_seq` of its submission. */
    position: bigint('position', { mode: 'number' }).notNull(),
    /** The input it answers; null for a retry. */
    messageId: uuid('message_id'),
    turn: integer('turn').notNull().default(0),
    attempt: integer('attempt').notNull().default(0),
    failures: integer('failures').notNull().default(0),
    retryAt: instant('retry_at'),
    steps: integer('steps').notNull().default(0),
    maxSteps: integer('max_steps'),
    deadline: instant('deadline'),
    inputTokens: counter('input_tokens'),
    outputTokens: counter('output_tokens'),
    cacheReadTokens: counter('cache_read_tokens'),
    cacheWriteTokens: counter('cache_write_tokens'),
    costNanos: cost(),
    outputMessageId: uuid('output_message_id'),
    /**
     * Its entries in the context lie between these two numbers: the first is set at its admission, the last at its end.
     */
    firstSeq: bigint('first_seq', { mode: 'number' }),
    lastSeq: bigint('last_seq', { mode: 'number' }),
    /** Of an ended job: why it ended. Of an unfinished job: why the last model call failed. */
    error: jsonb<JobError>('error'),
    /** The stop request, stored before any control signal is sent. */
    stopKind: text('stop_kind'),
    /** Of an interrupt: what happens to the messages that the job added. */
    stopMode: text('stop_mode'),
    stopReason: text('stop_reason'),
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
    /** Of a compaction job: the requested settings. */
    compaction: jsonb<JsonObject>('compaction'),
    createdAt: instant('created_at').notNull().defaultNow(),
    startedAt: instant('started_at'),
    finishedAt: instant('finished_at'),
  },
  (t) => [
    uniqueIndex('jobs_one_active')
      .on(t.contextId)
      .where(sql`${t.status} in ('running', 'waiting')`),
    index('jobs_queue')
      .on(t.contextId, t.priority, t.position)
      .where(sql`${t.status} = 'queued'`),
    uniqueIndex('jobs_spawned_once')
      .on(t.parentToolCallId)
      .where(sql`${t.parentToolCallId} is not null`),
    uniqueIndex('jobs_notice_once')
      .on(t.noticeOfJobId)
      .where(sql`${t.noticeOfJobId} is not null`),
    index('jobs_notice_due')
      .on(t.id)
      .where(sql`${t.parentNotice} = 'due'`),
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
    check('jobs_kind', oneOf('kind', ['input', 'retry', 'compact'])),
    check(
      'jobs_status',
      oneOf('status', [
        'queued',
        'running',
        'waiting',
        'completed',
        'incomplete',
        'failed',
        'cancelled',
        'interrupted',
      ]),
    ),
    check('jobs_input_has_message', sql`(${t.kind} = 'input') = (${t.messageId} is not null)`),
    check('jobs_started', sql`${t.status} not in ('running', 'waiting') or ${t.startedAt} is not null`),
    check(
      'jobs_finished',
      sql`(${t.status} in ('completed', 'incomplete', 'failed', 'cancelled', 'interrupted')) = (${t.finishedAt} is not null)`,
    ),
    check('jobs_failed_says_why', sql`${t.status} not in ('failed', 'incomplete') or ${t.error} is not null`),
    check('jobs_priority', sql`${t.priority} between 0 and 10`),
    check('jobs_stop_kind', oneOf('stop_kind', ['cancel', 'stop', 'interrupt'])),
    check('jobs_stop_mode', oneOf('stop_mode', ['discard', 'rollback', 'keep'])),
    check(
      'jobs_interrupt_has_mode',
      sql`(${t.stopKind} is not distinct from 'interrupt') = (${t.stopMode} is not null)`,
    ),
    check('jobs_stop_request', sql`(${t.stopKind} is null) = (${t.stopRequestedAt} is null)`),
  ],
);

/** Requested tool calls, from the assistant's message until their result is in the history. */
export const toolCalls = pgTable(
  'tool_calls',
  {
    id: uuid('id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
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
    /** The reply, until the run that owns the lease adds it to the history as this message. */
    reply: json<JsonObject>('reply'),
    replyMessageId: uuid('reply_message_id'),
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
    check('tool_calls_effect', oneOf('effect', ['none', 'idempotent', 'once'])),
    check('tool_calls_on_unknown', oneOf('on_unknown', ['tell', 'ask'])),
    check(
      'tool_calls_status',
      oneOf('status', [
        'pending',
        'started',
        'waiting',
        'completed',
        'failed',
        'cancelled',
        'denied',
        'expired',
        'unknown',
      ]),
    ),
    check('tool_calls_waits_for', oneOf('waits_for', ['approval', 'answer', 'outcome', 'workers', 'timer'])),
    check('tool_calls_approval', sql`(${t.approval} is null) = (${t.approvalAt} is null)`),
    check('tool_calls_needs', sql`(${t.waitsFor} is not distinct from 'workers') = (${t.needs} is not null)`),
    check(
      'tool_calls_finished',
      sql`(${t.status} in ('pending', 'started', 'waiting')) = (${t.finishedAt} is null)`,
    ),
    check(
      'tool_calls_started',
      sql`${t.status} <> 'started' or (${t.startedEpoch} is not null and ${t.effect} = 'once')`,
    ),
    check('tool_calls_waiting', sql`${t.status} <> 'waiting' or ${t.askedAt} is not null`),
    check('tool_calls_reply', sql`(${t.reply} is null) = (${t.replyMessageId} is null)`),
  ],
);

/** The execution log: each execution of a call, from its start to its outcome. */
export const toolExecutions = pgTable(
  'tool_executions',
  {
    toolCallId: uuid('tool_call_id').notNull(),
    /** From 1. */
    number: integer('number').notNull(),
    tenantId: text('tenant_id').notNull(),
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

/** Jobs whose end a call of another context waits for. */
export const awaitedJobs = pgTable(
  'awaited_jobs',
  {
    toolCallId: uuid('tool_call_id').notNull(),
    jobId: uuid('job_id').notNull(),
    tenantId: text('tenant_id').notNull(),
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

/** Memories of a worker. They survive a clear, and are deleted with the worker. */
export const memories = pgTable(
  'memories',
  {
    workerId: uuid('worker_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    key: text('key').notNull(),
    value: text('value').notNull(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.workerId, t.key] }),
    foreignKey({ columns: [t.workerId], foreignColumns: [workers.id] }).onDelete('cascade'),
  ],
);

/** Replacements for older messages in a prompt. The messages themselves stay stored. */
export const compactions = pgTable(
  'compactions',
  {
    id: uuid('id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    contextId: uuid('context_id').notNull(),
    branch: text('branch').notNull(),
    /** Its number in the context's sequence: that of its event. */
    seq: bigint('seq', { mode: 'number' }).notNull(),
    /** The last message that it covers. */
    uptoSeq: bigint('upto_seq', { mode: 'number' }).notNull(),
    type: text('type').notNull(),
    /** The summary that a model wrote. Null: only tool results are replaced by their summaries. */
    summary: text('summary'),
    /** The `provider/model` that wrote the summary. */
    model: text('model'),
    tokensBefore: integer('tokens_before').notNull(),
    tokensAfter: integer('tokens_after').notNull(),
    jobId: uuid('job_id').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex('compactions_place').on(t.contextId, t.branch, t.seq),
    check('compactions_type', oneOf('type', ['threshold', 'llm'])),
    check('compactions_summary', sql`(${t.type} = 'llm') = (${t.summary} is not null)`),
    check('compactions_upto', sql`${t.uptoSeq} < ${t.seq}`),
  ],
);

/**
 * The search index: one row per user or assistant message with text, written after the append (see search-index.ts).
 */
export const searchEntries = pgTable(
  'search_entries',
  {
    contextId: uuid('context_id').notNull(),
    seq: bigint('seq', { mode: 'number' }).notNull(),
    tenantId: text('tenant_id').notNull(),
    messageId: uuid('message_id').notNull(),
    role: text('role').notNull(),
    /** When the message was created. */
    createdAt: instant('created_at').notNull(),
    /** Its words, and its tenant and context as marks, so that one index serves both scopes. */
    document: customType<{ data: string }>({ dataType: () => 'tsvector' })('document').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.contextId, t.seq] }),
    index('search_entries_document').using('gin', t.document).with({ gin_pending_list_limit: 1024 }),
  ],
);

/** Contexts whose messages up to a number may not be in the search index yet. */
export const searchBacklog = pgTable('search_backlog', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  contextId: uuid('context_id').notNull(),
  tenantId: text('tenant_id').notNull(),
  uptoSeq: bigint('upto_seq', { mode: 'number' }).notNull(),
});

/** Model calls that failed. Answered calls are stored on their messages. */
export const failedCalls = pgTable(
  'failed_calls',
  {
    jobId: uuid('job_id').notNull(),
    /** The attempt of the job that failed. */
    attempt: integer('attempt').notNull(),
    contextId: uuid('context_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    /** `provider/model`. */
    model: text('model').notNull(),
    error: jsonb<JobError>('error').notNull(),
    calledAt: instant('called_at').notNull(),
    firstByteAt: instant('first_byte_at'),
    failedAt: instant('failed_at').notNull().defaultNow(),
    /** When the call is retried; null: it is not. */
    retryAt: instant('retry_at'),
    /** The fingerprint of the request; null: the call was for a summary. */
    prompt: jsonb<Fingerprint>('prompt'),
  },
  (t) => [primaryKey({ columns: [t.jobId, t.attempt] }), index('failed_calls_context').on(t.contextId)],
);

/**
 * Tool lists that were sent to models, stored once per list by hash. Tools of the config file and its MCP servers are
 * known only to worker processes.
 */
export const toolLists = pgTable(
  'tool_lists',
  {
    tenantId: text('tenant_id').notNull(),
    hash: text('hash').notNull(),
    tools: json<ToolSpec[]>('tools').notNull(),
    /** Updated at most once a day. */
    usedAt: instant('used_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.hash] }), index('tool_lists_age').on(t.usedAt)],
);

/** Events of a context, in one sequence of numbers with its messages. */
export const events = pgTable(
  'events',
  {
    contextId: uuid('context_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    seq: bigint('seq', { mode: 'number' }).notNull(),
    name: text('name').notNull(),
    data: jsonb<JsonObject>('data').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.contextId, t.seq] })],
);

/**
 * Worker processes, one row per start: whether their leases are valid, and what they support. They belong to no tenant.
 */
export const processes = pgTable(
  'processes',
  {
    id: uuid('id').primaryKey(),
    /** The session advisory lock that its heartbeat connection holds. */
    lockKey: bigint('lock_key', { mode: 'number' }).notNull(),
    host: text('host').notNull(),
    pid: integer('pid').notNull(),
    /**
     * `application_name` of its connections, which are terminated when it is declared dead. Null: an earlier release.
     */
    sessionName: text('session_name'),
    version: text('version').notNull(),
    tools: text('tools').array().notNull(),
    roles: text('roles').array().notNull(),
    models: text('models').array().notNull(),
    mcpServers: text('mcp_servers')
      .array()
      .notNull()
      .default(sql`'{}'`),
    startedAt: instant('started_at').notNull().defaultNow(),
    heartbeatAt: instant('heartbeat_at').notNull().defaultNow(),
    /**
     * When a heartbeat of this process was last late; null: never. For a while after it, it declares no other process
     * dead.
     */
    lateAt: instant('late_at'),
    /** Metrics of this process in prom-client's format, for scrapers of an API process. */
    metrics: jsonb<Json>('metrics'),
    /** Another process declared it dead: it claims nothing more, and registers again under a new id. */
    deadAt: instant('dead_at'),
  },
  (t) => [
    uniqueIndex('processes_lock').on(t.lockKey),
    index('processes_live')
      .on(t.heartbeatAt)
      .where(sql`${t.deadAt} is null`),
  ],
);

/**
 * Roles created through the API. Every change is a new version; the last version is current, unless it has no
 * definition.
 */
export const roles = pgTable(
  'roles',
  {
    tenantId: text('tenant_id').notNull(),
    name: text('name').notNull(),
    version: integer('version').notNull(),
    /** Null: this version deletes the role. */
    definition: json<Role>('definition'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.name, t.version] }),
    check('roles_version', sql`${t.version} > 0`),
  ],
);

/** One row per throttled provider key, shared by all worker processes. They belong to no tenant. */
export const providerThrottles = pgTable('provider_throttles', {
  /** Provider, address and a hash of the key. */
  id: text('id').primaryKey(),
  provider: text('provider').notNull(),
  /** The class of the failure that caused the throttle. */
  reason: text('reason').notNull(),
  since: instant('since').notNull().defaultNow(),
  /** No worker process calls the provider with this key before this time. */
  until: instant('until').notNull(),
});

/** Browser sessions that signed in with an API key. Only a hash of the cookie is stored. */
export const sessions = pgTable(
  'sessions',
  {
    tokenHash: text('token_hash').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    /** Identifies the API key without containing it: the session ends with the key. */
    keyId: text('key_id').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    expiresAt: instant('expires_at').notNull(),
  },
  (t) => [index('sessions_expiry').on(t.expiresAt)],
);

/** Responses to requests with an `Idempotency-Key`, stored in the transaction of the request's write. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    tenantId: text('tenant_id').notNull(),
    key: text('key').notNull(),
    /** Hash of method, path and body. */
    request: text('request').notNull(),
    /** Null while the first request is in progress. */
    response: jsonb<JsonObject>('response'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.key] }), index('idempotency_keys_age').on(t.createdAt)],
);
