/**
 * Reads everything that other transactions may have written to a context. Must run *after* its row was read or locked,
 * so that nothing is older than the counters of the row.
 */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Block } from '../../core/conversation/blocks.ts';
import type { AskedCompaction } from '../../core/compaction/settings.ts';
import type { Throttled } from '../../core/run/throttle.ts';
import type { ContextId, JobId, MessageId, ToolCallId, WorkerId } from '../../core/ids.ts';
import type {
  ActiveJob,
  CallFailure,
  InterruptMode,
  JobKind,
  QueuedJob,
  SteeredInput,
  StopRequest,
  StopKind,
} from '../../core/run/job.ts';
import { LIMITS } from '../../core/limits.ts';
import type { Role, WorkerConfig } from '../../core/workers/settings.ts';
import type { Mailbox } from '../../core/run/snapshot.ts';
import type { Effect, OnUnknown } from '../../core/tools/tool.ts';
import type { Millis } from '../../core/time.ts';
import type {
  ApprovalDecision,
  OpenCall,
  OpenCallStatus,
  Reply,
  Wait,
  WaitsFor,
} from '../../core/tools/tool-call.ts';
import type { Usage } from '../../core/money/usage.ts';
import type { Executor } from '../connection/client.ts';
import type { ContextRow } from './contexts.ts';
import { byContext, places } from './history.ts';
import type { OfContext } from './history.ts';
import { millis } from '../connection/instant.ts';
import { ReadLimitExceeded } from '../connection/read-limit.ts';
import { toUsage, usageColumns } from '../model-calls/usage.ts';

/** The stored configuration of a worker. The process that runs it resolves it to settings. */
export type WorkerDefinition = {
  workerId: WorkerId;
  role: string | null;
  /** The API role, in the version of this worker; null: the role is in the config file, or the worker has none. */
  definition: Role | null;
  config: WorkerConfig;
};

type StoredWorker = WorkerDefinition & Pick<Mailbox, 'rootContextId'>;

/** The mailbox of a context and the configuration of its worker. */
export type Stored = { mailbox: Mailbox; worker: WorkerDefinition };

/** Null: the worker does not exist. */
export async function readMailbox(executor: Executor, row: ContextRow): Promise<Stored | null> {
  const parts = await readParts(executor, placeOf(row), 'alone');
  return toMailboxes([row], parts).get(row.lease.contextId) ?? null;
}

/** The context of `row`, as statements take it. */
export function placeOf({ lease, activeBranch, steers }: ContextRow): SQL {
  return places([{ ...lease, branch: activeBranch, steers }]);
}

/**
 * `shared`: inputs may take at most `LIMITS.claimBytes` together, else reading rejects with `ReadLimitExceeded`.
 * `alone`: reads the next input, and of the inputs that wait to join the job the first one and as many more as fit in
 * `LIMITS.joiningBytes`.
 */
export type Reading = 'shared' | 'alone';

/** The data of contexts outside their rows. */
export type Parts = {
  jobs: Map<ContextId, { active: ActiveJob | null; next: QueuedJob | null }>;
  steers: Map<ContextId, SteeredInput[]>;
  calls: Map<ContextId, OpenCall[]>;
  workers: Map<ContextId, StoredWorker>;
};

/** Four statements for all contexts, sent together when `executor` is a transaction. */
export async function readParts(executor: Executor, at: SQL, reading: Reading): Promise<Parts> {
  const [jobs, steers, calls, workers] = await Promise.all([
    readJobs(executor, at, reading),
    readSteers(executor, at, reading),
    readOpenCalls(executor, at),
    readWorkers(executor, at),
  ]);
  return { jobs, steers, calls, workers };
}

export function toMailboxes(
  rows: readonly ContextRow[],
  { jobs, steers, calls, workers }: Parts,
): Map<ContextId, Stored> {
  const stored = rows.flatMap((row): [ContextId, Stored][] => {
    const { contextId } = row.lease;
    const worker = workers.get(contextId);
    if (worker === undefined) return [];
    const { active = null, next = null } = jobs.get(contextId) ?? {};
    const mailbox: Mailbox = {
      lease: row.lease,
      workerId: worker.workerId,
      rootContextId: worker.rootContextId,
      state: row.state,
      stopped: row.stopped,
      wakeSeq: row.wakeSeq,
      controlSeq: row.controlSeq,
      failedClaims: row.failedClaims,
      activeBranch: active?.branch ?? next?.branch ?? row.activeBranch,
      job: active,
      next,
      queued: row.queued,
      steers: steers.get(contextId) ?? [],
      calls: calls.get(contextId) ?? [],
    };
    return [[contextId, { mailbox, worker }]];
  });
  return new Map(stored);
}

type JobRow = Usage & {
  id: JobId;
  kind: JobKind;
  status: 'queued' | 'running' | 'waiting';
  branch: string;
  turn: number;
  attempt: number;
  failures: number;
  retry_at: number | null;
  error: CallFailure | Throttled | null;
  steps: number;
  max_steps: number | null;
  deadline: number | null;
  stop_kind: StopKind | null;
  stop_mode: InterruptMode | null;
  stop_reason: string | null;
  stop_requested_at: number | null;
  stop_delivered_at: number | null;
  message_id: MessageId | null;
  content: Block[] | null;
  compaction: AskedCompaction | null;
};

/** The active job and the first queued job: two lookups, each with its own index. */
async function readJobs(
  executor: Executor,
  at: SQL,
  reading: Reading,
): Promise<Map<ContextId, { active: ActiveJob | null; next: QueuedJob | null }>> {
  const found = sql`j.context_id, j.id, j.kind, j.status, j.branch, j.turn, j.attempt, j.failures, j.error, j.steps,
    j.max_steps, ${millis(sql`j.retry_at`)} as retry_at, ${millis(sql`j.deadline`)} as deadline,
    ${usageColumns('j')},
    j.stop_kind, j.stop_mode, j.stop_reason, ${millis(sql`j.stop_requested_at`)} as stop_requested_at,
    ${millis(sql`j.stop_delivered_at`)} as stop_delivered_at, j.message_id, j.compaction
    from jobs j where j.context_id = at.context_id and j.tenant_id = at.tenant`;
  const fits =
    reading === 'alone' ? sql`true` : sql`sum(m.bytes) over (order by j.id) <= ${LIMITS.claimBytes}`;
  const rows = await executor.execute<JobRow & OfContext>(sql`
    select j.*, case when ${fits} then m.content end as content from ${at} cross join lateral (
      (select ${found} and j.status in ('running', 'waiting'))
      union all
      (select ${found} and j.status = 'queued' order by j.priority, j.position, j.id limit 1)) j
    left join lateral (
      select m.bytes, m.content from messages m where m.id = j.message_id and j.status = 'queued' offset 0) m on true`);
  const jobs = new Map<ContextId, { active: ActiveJob | null; next: QueuedJob | null }>();
  for (const row of rows) {
    const known = jobs.get(row.context_id) ?? { active: null, next: null };
    const read = row.status === 'queued' ? { next: toQueued(row) } : { active: toActive(row) };
    jobs.set(row.context_id, { ...known, ...read });
  }
  return jobs;
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
    usage: toUsage(row),
    stopRequest: toStopRequest(row),
    asked: row.compaction,
  };
}

function toStopRequest(row: JobRow): StopRequest | null {
  const { stop_kind: kind, stop_mode: mode, stop_requested_at: requestedAt } = row;
  if (kind === null || requestedAt === null) return null;
  const told = { reason: row.stop_reason, requestedAt, deliveredAt: row.stop_delivered_at };
  return kind === 'interrupt' ? { kind, mode: mode ?? 'discard', ...told } : { kind, ...told };
}

function toQueued(row: JobRow): QueuedJob {
  const { id, branch, max_steps: maxSteps, deadline } = row;
  const base = { id, branch, maxSteps, deadline, stopRequest: toStopRequest(row) };
  if (row.kind === 'compact') return { ...base, kind: 'compact', asked: row.compaction ?? {} };
  if (row.message_id === null) return { ...base, kind: 'retry' };
  if (row.content === null) throw new ReadLimitExceeded();
  return { ...base, kind: 'input', messageId: row.message_id, content: row.content };
}

/** Queued inputs that wait to join the active job. */
async function readSteers(
  executor: Executor,
  at: SQL,
  reading: Reading,
): Promise<Map<ContextId, SteeredInput[]>> {
  const upto = sql`sum(m.bytes) over (order by m.id)`;
  const fits =
    reading === 'alone'
      ? sql`(${upto} <= ${LIMITS.joiningBytes} or row_number() over (order by m.id) = 1)`
      : sql`${upto} <= ${LIMITS.claimBytes}`;
  const rows = await executor.execute<{ id: MessageId; content: Block[] | null } & OfContext>(sql`
    select m.context_id, m.id, case when ${fits} then m.content end as content from ${at} cross join lateral (
      select m.context_id, m.id, m.bytes, m.content from messages m join jobs j on j.id = m.job_id
      where at.steers > 0 and m.context_id = at.context_id and m.tenant_id = at.tenant and m.seq is null and m.status = 'queued'
        and j.status in ('running', 'waiting')) m
    order by m.id`);
  if (reading === 'shared' && rows.some(({ content }) => content === null)) throw new ReadLimitExceeded();
  return byContext(rows, ({ id, content }) => ({ messageId: id, content }));
}

type CallRow = {
  id: ToolCallId;
  message_id: MessageId;
  job_id: JobId;
  ordinal: number;
  name: string;
  effect: Effect;
  on_unknown: OnUnknown;
  status: OpenCallStatus;
  reply: Pick<Reply, 'content' | 'isError'> | null;
  reply_message_id: MessageId | null;
  waits_for: WaitsFor;
  asked_at: Millis | null;
  expires_at: Millis | null;
  needs: number | null;
  approval: ApprovalDecision | null;
};

async function readOpenCalls(executor: Executor, at: SQL): Promise<Map<ContextId, OpenCall[]>> {
  const rows = await executor.execute<CallRow & OfContext>(sql`
    select t.* from ${at} cross join lateral (
      select t.context_id, t.id, t.message_id, t.job_id, t.ordinal, t.name, t.effect, t.on_unknown, t.status,
        t.reply, t.reply_message_id, coalesce(t.waits_for, 'answer') as waits_for, ${millis(sql`t.asked_at`)} as asked_at,
        ${millis(sql`t.expires_at`)} as expires_at, t.needs, t.approval
      from tool_calls t where t.context_id = at.context_id and t.tenant_id = at.tenant
        and t.status in ('pending', 'started', 'waiting') order by t.ordinal) t`);
  return byContext(rows, toOpenCall);
}

function toOpenCall(row: CallRow): OpenCall {
  const {
    id,
    message_id: messageId,
    job_id: jobId,
    ordinal,
    name,
    effect,
    on_unknown: onUnknown,
    status,
    reply,
    reply_message_id: replyId,
    approval,
  } = row;
  const told = reply === null || replyId === null ? null : { ...reply, messageId: replyId };
  const wait = status === 'waiting' ? toWait(row) : null;
  return { id, messageId, jobId, ordinal, name, effect, onUnknown, status, wait, reply: told, approval };
}

function toWait({ waits_for: waitsFor, asked_at: since, expires_at: until, needs }: CallRow): Wait {
  if (waitsFor !== 'timer') return { for: waitsFor, until, needs };
  // A timer always has its times. Zero makes an incomplete one expire at once.
  return { for: 'timer', since: since ?? 0, until: until ?? 0, needs: null };
}

async function readWorkers(executor: Executor, at: SQL): Promise<Map<ContextId, StoredWorker>> {
  const rows = await executor.execute<Omit<StoredWorker, 'workerId'> & { id: WorkerId } & OfContext>(sql`
    select w.* from ${at} cross join lateral (
      select w.context_id, w.id, w.role, r.definition, w.config,
        coalesce(w.root_context_id, w.context_id) as "rootContextId" from workers w
      left join roles r on r.tenant_id = w.tenant_id and r.name = w.role and r.version = w.role_version
      where w.context_id = at.context_id and w.tenant_id = at.tenant limit 1) w`);
  return new Map(rows.map(({ context_id, id, ...worker }) => [context_id, { workerId: id, ...worker }]));
}
