/** The jobs of a mailbox: the active one and the first queued one. */
import type { TraceParent } from '../../../core/tracing/trace-parent.ts';
import { sql, type SQL } from 'drizzle-orm';
import type { AskedCompaction } from '../../../core/compaction/settings.ts';
import type { Block } from '../../../core/conversation/blocks.ts';
import type { ContextId, JobId, MessageId } from '../../../core/ids.ts';
import type { Usage } from '../../../core/money/usage.ts';
import type {
  ActiveJob,
  CallFailure,
  InterruptMode,
  JobKind,
  QueuedJob,
  StopKind,
  StopRequest,
} from '../../../core/run/job.ts';
import type { OutputSchema } from '../../../core/run/output.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { Throttled } from '../../../core/run/throttle.ts';
import type { Actor } from '../../../core/access/actor.ts';
import type { User } from '../../../core/access/user.ts';
import { textInJson } from '../../connection/codec.ts';
import { millis } from '../../connection/instant.ts';
import { toUsage, usageColumns } from '../../model-calls/usage.ts';
import type { OfContext } from '../places.ts';
import { fitsShared, type Reading } from './inputs.ts';

export type JobRow = OfContext &
  Usage & {
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
    output_schema: OutputSchema | null;
    corrections: number;
    deadline: number | null;
    stop_kind: StopKind | null;
    stop_mode: InterruptMode | null;
    stop_reason: string | null;
    stop_actor: Actor | null;
    stop_requested_at: number | null;
    stop_delivered_at: number | null;
    message_id: MessageId | null;
    content: Block[] | null;
    compaction: AskedCompaction | null;
    metadata: JsonObject;
    trace_parent: TraceParent | null;
    user_name: User | null;
  };

/** Whether its input did not fit. */
export function isWithoutInput({ status, message_id: messageId, content }: JobRow): boolean {
  return status === 'queued' && messageId !== null && content === null;
}

export type JobsInMailbox = { active: ActiveJob | null; next: QueuedJob | null };

/** The active job and the first queued job, as `JobRow`: two lookups, each with its own index. */
export function jobsOf(at: SQL, reading: Reading): SQL {
  const found = sql`j.context_id, j.id, j.kind, j.status, j.branch, j.turn, j.attempt, j.failures, j.error, j.steps,
    j.max_steps, j.output_schema, j.corrections, ${millis(sql`j.retry_at`)} as retry_at, ${millis(sql`j.deadline`)} as deadline,
    ${usageColumns('j')},
    j.stop_kind, j.stop_mode, ${textInJson(sql`j.stop_reason`)} as stop_reason, j.stop_actor,
    ${millis(sql`j.stop_requested_at`)} as stop_requested_at,
    ${millis(sql`j.stop_delivered_at`)} as stop_delivered_at, j.message_id, j.compaction, j.metadata, j.trace_parent,
    ${textInJson(sql`j.user_name`)} as user_name
    from jobs j where j.context_id = at.context_id and j.tenant_id = at.tenant`;
  const fits = reading === 'alone' ? sql`true` : fitsShared(sql`j.id`);
  return sql`
    select j.*, case when ${fits} then m.content end as content from ${at} cross join lateral (
      (select ${found} and j.status in ('running', 'waiting'))
      union all
      (select ${found} and j.status = 'queued' order by j.priority, j.position, j.id limit 1)) j
    left join lateral (
      select m.bytes, m.content from messages m where m.id = j.message_id and j.status = 'queued' offset 0) m on true`;
}

export function toJobs(rows: readonly JobRow[]): Map<ContextId, JobsInMailbox> {
  const jobs = new Map<ContextId, JobsInMailbox>();
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
    outputSchema: row.output_schema,
    corrections: row.corrections,
    deadline: row.deadline,
    usage: toUsage(row),
    stopRequest: toStopRequest(row),
    asked: row.compaction,
    metadata: row.metadata,
    traceParent: row.trace_parent,
    user: row.user_name,
  };
}

function toStopRequest(row: JobRow): StopRequest | null {
  const { stop_kind: kind, stop_mode: mode, stop_requested_at: requestedAt } = row;
  if (kind === null || requestedAt === null) return null;
  const { stop_reason: reason, stop_delivered_at: deliveredAt, stop_actor: by } = row;
  const details = { reason, requestedAt, deliveredAt, by };
  return kind === 'interrupt' ? { kind, mode: mode ?? 'discard', ...details } : { kind, ...details };
}

function toQueued(row: JobRow): QueuedJob {
  const { id, branch, max_steps: maxSteps, output_schema: outputSchema, deadline, metadata } = row;
  const options = { maxSteps, outputSchema, deadline, metadata, traceParent: row.trace_parent };
  const base = { id, branch, ...options, user: row.user_name, stopRequest: toStopRequest(row) };
  if (row.kind === 'compact') return { ...base, kind: 'compact', asked: row.compaction ?? {} };
  if (row.message_id === null) return { ...base, kind: 'retry' };
  if (row.content === null) throw new Error(`The input of the job ${row.id} was not read.`);
  return { ...base, kind: 'input', messageId: row.message_id, content: row.content };
}
