/**
 * Reads what is stored of a context: the mailbox (what others may have written) and the history (what only the holder
 * writes). Always *after* the context's row was read or locked, so that nothing here is older than its counters.
 */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Block } from '../core/blocks.ts';
import type { JobError } from '../core/errors.ts';
import type { HeldBack } from '../core/gate.ts';
import type { JobId, MessageId, ToolCallId, WorkerId } from '../core/ids.ts';
import type {
  ActiveJob,
  InterruptMode,
  JobKind,
  QueuedJob,
  SteeredInput,
  Wish,
  WishKind,
} from '../core/job.ts';
import type { Message, MessageRole, MessageType } from '../core/message.ts';
import type { Role, WorkerConfig } from '../core/settings.ts';
import type { Lease, Mailbox } from '../core/snapshot.ts';
import type { Effect, OnUnknown } from '../core/tool.ts';
import type { OpenCall, OpenCallStatus } from '../core/tool-call.ts';
import type { Turn } from '../core/turn.ts';
import type { Executor } from './client.ts';
import type { ContextRow } from './contexts.ts';
import { millis } from './instant.ts';

/** Which context, and whose. */
type Place = Pick<Lease, 'contextId' | 'tenantId'>;

/** What a worker was configured to be: resolved to settings by the process that runs it. */
export type WorkerDefinition = {
  workerId: WorkerId;
  role: string | null;
  /** Of a role of the API, in the version that the worker was made from; null: the process knows the role, or there is none. */
  definition: Role | null;
  config: WorkerConfig;
};

/** Three statements, sent together when `executor` is a transaction. Null: the worker is gone. */
export async function readMailbox(
  executor: Executor,
  row: ContextRow,
): Promise<{ mailbox: Mailbox; worker: WorkerDefinition } | null> {
  const [jobs, steers, calls, worker] = await Promise.all([
    readJobs(executor, row.lease),
    row.steers === 0 ? [] : readSteers(executor, row.lease),
    readOpenCalls(executor, row.lease),
    readWorker(executor, row.lease),
  ]);
  if (worker === null) return null;
  const mailbox: Mailbox = {
    lease: row.lease,
    workerId: worker.workerId,
    state: row.state,
    stopped: row.stopped,
    wakeSeq: row.wakeSeq,
    controlSeq: row.controlSeq,
    barrenClaims: row.barrenClaims,
    activeBranch: row.activeBranch,
    job: jobs.active,
    next: jobs.next,
    queued: row.queued,
    steers,
    calls,
  };
  return { mailbox, worker };
}

const messageColumns: SQL = sql`m.id, m.seq, m.role, m.type, m.turn, m.content, m.job_id, m.model_id, m.provider_id,
  m.finish_reason, m.input_tokens, m.output_tokens, m.cache_read_tokens, m.cache_write_tokens`;

/** The visible messages of a branch, in order. */
export async function readHistory(
  executor: Executor,
  { contextId, tenantId }: Place,
  branch: string,
): Promise<Message[]> {
  const rows = await executor.execute<MessageRow>(sql`
    select ${messageColumns} from messages m
    where m.context_id = ${contextId} and m.tenant_id = ${tenantId} and m.branch = ${branch} and m.status = 'completed'
    order by m.seq`);
  return rows.map(toMessage);
}

/** The visible messages that a job added to history. */
export async function readAdded(
  executor: Executor,
  { contextId, tenantId }: Place,
  jobId: JobId,
): Promise<Message[]> {
  const rows = await executor.execute<MessageRow>(sql`
    select ${messageColumns} from jobs j join messages m on m.context_id = j.context_id and m.branch = j.branch
      and m.seq > j.first_seq and m.job_id = j.id
    where j.id = ${jobId} and j.context_id = ${contextId} and j.tenant_id = ${tenantId} and m.status = 'completed'
    order by m.seq`);
  return rows.map(toMessage);
}

/** The last visible message of a branch that is of a turn: what stands for a history that is not read. */
export async function readLastTurn(
  executor: Executor,
  { contextId, tenantId }: Place,
  branch: string,
): Promise<Pick<Message, 'role' | 'turn'>[]> {
  return executor.execute<{ role: MessageRole; turn: Turn }>(sql`
    select role, turn from messages where context_id = ${contextId} and tenant_id = ${tenantId} and branch = ${branch}
      and status = 'completed' and role <> 'system' order by seq desc limit 1`);
}

type MessageRow = {
  id: MessageId;
  seq: number;
  role: MessageRole;
  type: MessageType;
  turn: Turn;
  content: Block[];
  job_id: JobId | null;
  model_id: string | null;
  provider_id: string | null;
  finish_reason: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  cache_read_tokens: number | null;
  cache_write_tokens: number | null;
};

function toMessage(row: MessageRow): Message {
  const { id, seq, role, type, turn, content, job_id: jobId } = row;
  const model =
    row.model_id === null
      ? null
      : {
          modelId: row.model_id,
          providerId: row.provider_id ?? '',
          finishReason: row.finish_reason ?? '',
          usage: {
            input_tokens: row.input_tokens ?? 0,
            output_tokens: row.output_tokens ?? 0,
            cache_read_tokens: row.cache_read_tokens ?? 0,
            cache_write_tokens: row.cache_write_tokens ?? 0,
          },
        };
  return { id, seq, role, type, turn, content, jobId, model };
}

type JobRow = {
  id: JobId;
  kind: JobKind;
  status: 'queued' | 'running' | 'waiting';
  branch: string;
  turn: number;
  attempt: number;
  failures: number;
  retry_at: number | null;
  error: JobError | HeldBack | null;
  steps: number;
  max_steps: number | null;
  deadline: number | null;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  stop_kind: WishKind | null;
  stop_mode: InterruptMode | null;
  stop_reason: string | null;
  stop_requested_at: number | null;
  stop_delivered_at: number | null;
  message_id: MessageId | null;
  content: Block[] | null;
};

/** The active job and the first of the queue. */
async function readJobs(
  executor: Executor,
  { contextId, tenantId }: Place,
): Promise<{ active: ActiveJob | null; next: QueuedJob | null }> {
  const rows = await executor.execute<JobRow>(sql`
    select j.id, j.kind, j.status, j.branch, j.turn, j.attempt, j.failures, j.error, j.steps, j.max_steps,
      ${millis(sql`j.retry_at`)} as retry_at, ${millis(sql`j.deadline`)} as deadline,
      j.input_tokens, j.output_tokens, j.cache_read_tokens, j.cache_write_tokens,
      j.stop_kind, j.stop_mode, j.stop_reason, ${millis(sql`j.stop_requested_at`)} as stop_requested_at,
      ${millis(sql`j.stop_delivered_at`)} as stop_delivered_at, j.message_id, m.content
    from jobs j left join messages m on j.status = 'queued' and m.id = j.message_id
    where j.tenant_id = ${tenantId} and j.id in (
      (select id from jobs where context_id = ${contextId} and status in ('running', 'waiting'))
      union all
      (select id from jobs where context_id = ${contextId} and status = 'queued'
        order by priority, position, id limit 1))`);
  const active = rows.find((row) => row.status !== 'queued');
  const next = rows.find((row) => row.status === 'queued');
  return {
    active: active === undefined ? null : toActive(active),
    next: next === undefined ? null : toQueued(next),
  };
}

function toActive(row: JobRow): ActiveJob {
  return {
    id: row.id,
    kind: row.kind,
    status: row.status === 'waiting' ? 'waiting' : 'running',
    branch: row.branch,
    turn: row.turn,
    attempt: row.attempt,
    failures: row.failures,
    retryAt: row.retry_at,
    lastFailure: row.error,
    steps: row.steps,
    maxSteps: row.max_steps,
    deadline: row.deadline,
    usage: {
      input_tokens: row.input_tokens,
      output_tokens: row.output_tokens,
      cache_read_tokens: row.cache_read_tokens,
      cache_write_tokens: row.cache_write_tokens,
    },
    wish: toWish(row),
  };
}

function toWish(row: JobRow): Wish | null {
  const { stop_kind: kind, stop_mode: mode, stop_requested_at: requestedAt } = row;
  if (kind === null || requestedAt === null) return null;
  const told = { reason: row.stop_reason, requestedAt, deliveredAt: row.stop_delivered_at };
  return kind === 'interrupt' ? { kind, mode: mode ?? 'discard', ...told } : { kind, ...told };
}

function toQueued(row: JobRow): QueuedJob {
  const { id, branch, max_steps: maxSteps, deadline } = row;
  const base = { id, branch, maxSteps, deadline, wish: toWish(row) };
  if (row.message_id === null || row.content === null) return { ...base, kind: 'retry' };
  return { ...base, kind: 'input', messageId: row.message_id, content: row.content };
}

/** Queued inputs of a job that has begun. */
async function readSteers(executor: Executor, { contextId, tenantId }: Place): Promise<SteeredInput[]> {
  const rows = await executor.execute<{ id: MessageId; content: Block[] }>(sql`
    select m.id, m.content from messages m join jobs j on j.id = m.job_id
    where m.context_id = ${contextId} and m.tenant_id = ${tenantId} and m.seq is null and m.status = 'queued'
      and j.status in ('running', 'waiting') order by m.id`);
  return rows.map(({ id, content }) => ({ messageId: id, content }));
}

async function readOpenCalls(executor: Executor, { contextId, tenantId }: Place): Promise<OpenCall[]> {
  const rows = await executor.execute<{
    id: ToolCallId;
    message_id: MessageId;
    job_id: JobId;
    ordinal: number;
    name: string;
    effect: Effect;
    on_unknown: OnUnknown;
    status: OpenCallStatus;
  }>(sql`
    select id, message_id, job_id, ordinal, name, effect, on_unknown, status from tool_calls
    where context_id = ${contextId} and tenant_id = ${tenantId} and status in ('pending', 'started') order by ordinal`);
  return rows.map(
    ({ id, message_id: messageId, job_id: jobId, ordinal, name, effect, on_unknown: onUnknown, status }) => ({
      id,
      messageId,
      jobId,
      ordinal,
      name,
      effect,
      onUnknown,
      status,
    }),
  );
}

async function readWorker(
  executor: Executor,
  { contextId, tenantId }: Place,
): Promise<WorkerDefinition | null> {
  const [row] = await executor.execute<{
    id: WorkerId;
    role: string | null;
    definition: Role | null;
    config: WorkerConfig;
  }>(sql`
    select w.id, w.role, r.definition, w.config from workers w
    left join roles r on r.tenant_id = w.tenant_id and r.name = w.role and r.version = w.role_version
    where w.context_id = ${contextId} and w.tenant_id = ${tenantId}`);
  if (row === undefined) return null;
  return { workerId: row.id, role: row.role, definition: row.definition, config: row.config };
}
