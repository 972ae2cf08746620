/**
 * The tables. CHECKs and unique indexes repeat the laws of the protocols, so that a bug fails a statement, not a
 * conversation. `tenant_id` is on every row. Ids are made in the application.
 *
 * `contexts` is narrow and hot: no index on what changes at every append, room on the page for in-place updates.
 * Messages, jobs, tool calls and events carry no foreign key to it: every statement that inserts them is fed by an
 * update of the context's row, so that a row without its context cannot come to be.
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
import type { Block } from '../core/blocks.ts';
import type { Span } from '../core/branch.ts';
import type { JobError } from '../core/errors.ts';
import type { Fingerprint } from '../core/fingerprint.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { ToolSpec } from '../core/model.ts';
import type { Role, WorkerConfig } from '../core/settings.ts';
import { encodeJson } from './codec.ts';

const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 });
/** Encoded where Postgres would refuse it (see codec.ts); the driver's parser decodes. */
const encoded =
  (dataType: 'json' | 'jsonb') =>
  <T>(name: string) =>
    customType<{ data: T; driverData: string }>({
      dataType: () => dataType,
      toDriver: (value) => encodeJson(value),
    })(name);
/**
 * What goes to a provider, and to the model's tools: it keeps its text. `jsonb` sorts the members of objects, and a prompt
 * that was read again would miss the provider's cache.
 */
const json = encoded('json');
const jsonb = encoded('jsonb');
/** Billionths of a US dollar. Null: no price is known. */
const cost = () => bigint('cost_nanos', { mode: 'number' });
const counter = (name: string) => bigint(name, { mode: 'number' }).notNull().default(0);
const oneOf = (column: string, values: readonly string[]) =>
  sql.raw(`${column} in (${values.map((value) => `'${value}'`).join(', ')})`);

/** Mailbox, lease and counter of one context: what must be agreed on between processes, and nothing else. */
export const contexts = pgTable(
  'contexts',
  {
    id: uuid('id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    /** Who may run it, and when. */
    schedulingStatus: text('scheduling_status').notNull().default('idle'),
    /** What a client sees. */
    state: text('state').notNull().default('Idle'),
    stateSince: instant('state_since').notNull().defaultNow(),
    /** Numbers every message and event of the context without gaps. */
    headSeq: counter('head_seq'),
    /** How often it was rung. */
    wakeSeq: counter('wake_seq'),
    /** How often its holder was told to look up. */
    controlSeq: counter('control_seq'),
    leaseOwner: uuid('lease_owner'),
    leaseEpoch: counter('lease_epoch'),
    /** When a sweep looks: set while nobody runs it, and while a stop waits for its answer. */
    nextCheckAt: instant('next_check_at'),
    activeBranch: text('active_branch').notNull().default('main'),
    stopped: boolean('stopped').notNull().default(false),
    /** Queued jobs that bring an input or run on what stands. */
    queued: integer('queued').notNull().default(0),
    /** Inputs that wait to join the running job. */
    steers: integer('steers').notNull().default(0),
    /** Claims in a row that brought nothing forward. */
    failedClaims: smallint('failed_claims').notNull().default(0),
    messageCount: counter('message_count'),
    turnCount: counter('turn_count'),
    requestCount: counter('request_count'),
    inputTokens: counter('input_tokens'),
    outputTokens: counter('output_tokens'),
    cacheReadTokens: counter('cache_read_tokens'),
    cacheWriteTokens: counter('cache_write_tokens'),
    costNanos: cost(),
    /** Why the last job failed; cleared by one that completes. */
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

/** A worker's identity and settings; owns exactly one context. One version for both. */
export const workers = pgTable(
  'workers',
  {
    id: uuid('id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    contextId: uuid('context_id').notNull(),
    name: text('name').notNull(),
    title: text('title'),
    role: text('role'),
    /** Of a role of the API: the version it was made from. Null: no role, or one of the config file. */
    roleVersion: integer('role_version'),
    config: json<WorkerConfig>('config').notNull(),
    version: integer('version').notNull().default(1),
    parentWorkerId: uuid('parent_worker_id'),
    /** The context that its own was forked from. */
    parentContextId: uuid('parent_context_id'),
    /** The first context of these forks: all their prompts begin alike. Null: its own. */
    rootContextId: uuid('root_context_id'),
    /** When a sweep looks whether it has been idle for too long; moved on lazily. Null: never. */
    expiresAt: instant('expires_at'),
    /** It was idle for too long: left out of lists, and purged after its retention. */
    archivedAt: instant('archived_at'),
    depth: integer('depth').notNull().default(0),
    /** The worker at the top of its tree. Null: itself. */
    rootWorkerId: uuid('root_worker_id'),
    /** It goes on when its parent is stopped or removed. */
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
    /** For jobs of a role. */
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
 * One line of messages; knows where it left its parent. A message of its own is younger than the branch itself, so that
 * a name that is given again shows nothing of an older branch, and a cleared branch nothing from before.
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
     * All that it reads, in order: what it shares with the branches it came from, and, last, its own (open) stretch. Null:
     * every message under its own name.
     */
    spans: jsonb<Span[]>('spans'),
    /** What its own stretch adds, by the jobs that ended on it. */
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

/** Immutable entries. A queued input has no number yet. */
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
    /** Of its content: known before that is read. */
    bytes: integer('bytes')
      .notNull()
      .generatedAlwaysAs(sql`octet_length(content::text)`),
    jobId: uuid('job_id'),
    /** Of an input: the worker that sent it. Null: a client. */
    senderWorkerId: uuid('sender_worker_id'),
    modelId: text('model_id'),
    providerId: text('provider_id'),
    inputTokens: integer('input_tokens'),
    outputTokens: integer('output_tokens'),
    cacheReadTokens: integer('cache_read_tokens'),
    cacheWriteTokens: integer('cache_write_tokens'),
    costNanos: cost(),
    finishReason: text('finish_reason'),
    /** Of the model call that made it: which attempt, when it was asked, when its first byte came. */
    attempt: integer('attempt'),
    calledAt: instant('called_at'),
    firstByteAt: instant('first_byte_at'),
    /** Of that call: what was sent. */
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

/** Background runs, with their wishes, attempts and endings. */
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
    /** 1 first … 10; 0: it interrupted what ran, and goes ahead of all. */
    priority: smallint('priority').notNull().default(5),
    /** Its place in the context's queue among those of its priority: the `wake_seq` it was submitted under. */
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
    /** What it added to its context lies between these two numbers: at its admission, and at its end. */
    firstSeq: bigint('first_seq', { mode: 'number' }),
    lastSeq: bigint('last_seq', { mode: 'number' }),
    /** Of an ended job: why. Of an unfinished one: why the last model call failed. */
    error: jsonb<JobError>('error'),
    /** The wish, written here before anybody is told. */
    stopKind: text('stop_kind'),
    /** Of an interrupt: what becomes of what the job added. */
    stopMode: text('stop_mode'),
    stopReason: text('stop_reason'),
    stopRequestedAt: instant('stop_requested_at'),
    stopDeliveredAt: instant('stop_delivered_at'),
    stoppedAt: instant('stopped_at'),
    parentJobId: uuid('parent_job_id'),
    parentToolCallId: uuid('parent_tool_call_id'),
    /** How many workers passed on what it answers, one to the next; 0: a client asked. */
    hops: smallint('hops').notNull().default(0),
    /** Its end is to be told to the worker that asked for it, as an input: when it ends (`wanted`), or now (`due`). */
    parentNotice: text('parent_notice'),
    /** It tells of the end of this job; once. */
    noticeOfJobId: uuid('notice_of_job_id'),
    /** It ended in a way that is to reach the jobs below it, and did not reach all of them yet. */
    cascade: text('cascade'),
    metadata: jsonb<JsonObject>('metadata').notNull(),
    /** Of a compaction: how it was asked for. */
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
    /** What ended otherwise than well is rare, and looked for. */
    index('jobs_ended_badly')
      .on(t.tenantId, t.status, t.id)
      .where(sql`${t.status} in ('incomplete', 'failed', 'cancelled', 'interrupted')`),
    /** What answers no input is rare, too. */
    index('jobs_other_kind')
      .on(t.tenantId, t.kind, t.id)
      .where(sql`${t.kind} in ('retry', 'compact')`),
    /** Jobs that carry nothing are not in it. */
    index('jobs_metadata')
      .using('gin', t.metadata.op('jsonb_path_ops'))
      .where(sql`${t.metadata} <> '{}'`)
      .with({ gin_pending_list_limit: 1024 }),
    /** Written once for each job, with its end. */
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

/** Requested calls, from the assistant's message until their result is one. */
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
    /** Of a call that is answered from outside: when that was asked for, and until when it is waited for. */
    askedAt: instant('asked_at'),
    expiresAt: instant('expires_at'),
    /** What was answered, until the holder of the context takes it into history as this message. */
    reply: json<JsonObject>('reply'),
    replyMessageId: uuid('reply_message_id'),
    /** Of one that waits, or did: what for. Null beside `waiting`: an answer, as an older release wrote it. */
    waitsFor: text('waits_for'),
    /** What a person or a policy said to it being run, and when. */
    approval: json<JsonObject>('approval'),
    approvalAt: instant('approval_at'),
    /** Of one that waits for workers: how many of their jobs must still end. */
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
    /** What waits for a person or a client, the oldest first. */
    index('tool_calls_inbox')
      .on(t.tenantId, t.askedAt, t.id)
      .where(
        sql`${t.status} = 'waiting' and ${t.reply} is null and ${t.waitsFor} in ('approval', 'answer', 'outcome')`,
      ),
    /** Waits for workers that are over, whose context may not know it yet. */
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

/** The ledger: each time a call was run, from its beginning to its outcome. */
export const toolExecutions = pgTable(
  'tool_executions',
  {
    toolCallId: uuid('tool_call_id').notNull(),
    /** From 1. */
    number: integer('number').notNull(),
    tenantId: text('tenant_id').notNull(),
    contextId: uuid('context_id').notNull(),
    /** Under which lease it ran. */
    epoch: bigint('epoch', { mode: 'number' }).notNull(),
    /** What the tool was given, so that it can tell a repetition. */
    idempotencyKey: text('idempotency_key').notNull(),
    beganAt: instant('began_at').notNull(),
    endedAt: instant('ended_at'),
    /** Null: it is under way, or nobody looked yet what became of it. */
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
    /** Of the call. */
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

/** What a worker was told to remember: it survives a clear, and ends with the worker. */
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

/** What a prompt shows in place of older messages. The messages themselves stay. */
export const compactions = pgTable(
  'compactions',
  {
    id: uuid('id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    contextId: uuid('context_id').notNull(),
    branch: text('branch').notNull(),
    /** Its place in the context's one line: that of its event. */
    seq: bigint('seq', { mode: 'number' }).notNull(),
    /** The last message that it stands for. */
    uptoSeq: bigint('upto_seq', { mode: 'number' }).notNull(),
    type: text('type').notNull(),
    /** Of a model: what it made of them. Null: results of tools are replaced by their summaries. */
    summary: text('summary'),
    /** `provider/model` that wrote the summary. */
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

/** What search finds: one row for each message with text that was said, made behind the append (see search-index.ts). */
export const searchEntries = pgTable(
  'search_entries',
  {
    contextId: uuid('context_id').notNull(),
    seq: bigint('seq', { mode: 'number' }).notNull(),
    tenantId: text('tenant_id').notNull(),
    messageId: uuid('message_id').notNull(),
    role: text('role').notNull(),
    /** Of the message. */
    createdAt: instant('created_at').notNull(),
    /** Its words, and whose they are: so that one index answers for a tenant and for a context. */
    document: customType<{ data: string }>({ dataType: () => 'tsvector' })('document').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.contextId, t.seq] }),
    index('search_entries_document').using('gin', t.document).with({ gin_pending_list_limit: 1024 }),
  ],
);

/** Contexts with messages up to a number that search may not know yet. */
export const searchBacklog = pgTable('search_backlog', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  contextId: uuid('context_id').notNull(),
  tenantId: text('tenant_id').notNull(),
  uptoSeq: bigint('upto_seq', { mode: 'number' }).notNull(),
});

/** Model calls that brought no answer. Those that did are told by their message. */
export const failedCalls = pgTable(
  'failed_calls',
  {
    jobId: uuid('job_id').notNull(),
    /** Of the job: the attempt that failed. */
    attempt: integer('attempt').notNull(),
    contextId: uuid('context_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    /** `provider/model`. */
    model: text('model').notNull(),
    error: jsonb<JobError>('error').notNull(),
    calledAt: instant('called_at').notNull(),
    firstByteAt: instant('first_byte_at'),
    failedAt: instant('failed_at').notNull().defaultNow(),
    /** When it is made again; null: it is not. */
    retryAt: instant('retry_at'),
    /** What was sent; null: a summary was asked for. */
    prompt: jsonb<Fingerprint>('prompt'),
  },
  (t) => [primaryKey({ columns: [t.jobId, t.attempt] }), index('failed_calls_context').on(t.contextId)],
);

/**
 * Tools as models were told of them, kept once for each list under its hash: those of the config file and its servers,
 * which only worker processes know.
 */
export const toolLists = pgTable(
  'tool_lists',
  {
    tenantId: text('tenant_id').notNull(),
    hash: text('hash').notNull(),
    tools: json<ToolSpec[]>('tools').notNull(),
    /** To the day. */
    usedAt: instant('used_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.hash] }), index('tool_lists_age').on(t.usedAt)],
);

/** Facts of a context, numbered in one line with its messages. */
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

/** Incarnations of worker processes: whose leases live, and what they can serve. Of no tenant: they serve all. */
export const processes = pgTable(
  'processes',
  {
    id: uuid('id').primaryKey(),
    /** The session advisory lock that its beating connection holds. */
    lockKey: bigint('lock_key', { mode: 'number' }).notNull(),
    host: text('host').notNull(),
    pid: integer('pid').notNull(),
    /** `application_name` of its connections, which are terminated when it is declared dead. Null: of an earlier release. */
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
    /** When a beat last came late, null: never. Who was away itself judges nobody for a while. */
    lateAt: instant('late_at'),
    /** Figures of this process, as prom-client gives them, for whoever scrapes an API process. */
    metrics: jsonb<Json>('metrics'),
    /** Somebody found it dead: it claims no more and starts over under a new id. */
    deadAt: instant('dead_at'),
  },
  (t) => [
    uniqueIndex('processes_lock').on(t.lockKey),
    index('processes_live')
      .on(t.heartbeatAt)
      .where(sql`${t.deadAt} is null`),
  ],
);

/** Roles of the API. Every change is a new version; the last one stands, unless it is a grave. */
export const roles = pgTable(
  'roles',
  {
    tenantId: text('tenant_id').notNull(),
    name: text('name').notNull(),
    version: integer('version').notNull(),
    /** Null: it was deleted with this version. */
    definition: json<Role>('definition'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.name, t.version] }),
    check('roles_version', sql`${t.version} > 0`),
  ],
);

/** One row for each provider key that was told to hold back: shared by all worker processes. Of no tenant. */
export const providerThrottles = pgTable('provider_throttles', {
  /** Provider, address and a hash of the key. */
  id: text('id').primaryKey(),
  provider: text('provider').notNull(),
  /** Why: the class of the failure that closed it. */
  reason: text('reason').notNull(),
  since: instant('since').notNull().defaultNow(),
  /** Nobody calls before this. */
  until: instant('until').notNull(),
});

/** Browsers that gave a key. What their cookies hold is not stored, only its hash. */
export const sessions = pgTable(
  'sessions',
  {
    tokenHash: text('token_hash').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    /** Tells the key, and does not hold it: the session ends with it. */
    keyId: text('key_id').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    expiresAt: instant('expires_at').notNull(),
  },
  (t) => [index('sessions_expiry').on(t.expiresAt)],
);

/** What was answered under an `Idempotency-Key`, stored with the write it answers. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    tenantId: text('tenant_id').notNull(),
    key: text('key').notNull(),
    /** Hash of method, path and body. */
    request: text('request').notNull(),
    /** Null while the first request is under way. */
    response: jsonb<JsonObject>('response'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.key] }), index('idempotency_keys_age').on(t.createdAt)],
);
