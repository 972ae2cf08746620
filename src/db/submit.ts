/**
 * Submit: an input, or the wish to run on what stands, enters a context's mailbox. One statement, fed by the update of
 * the context's row: its lock orders submits, its `wake_seq` is their place in the queue.
 */
import { sql } from 'drizzle-orm';
import type { InputBlock } from '../core/blocks.ts';
import type { ContextId, JobId, MessageId, TenantId } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import type { Executor } from './client.ts';
import { encodeJson } from './codec.ts';
import { toTimestamp } from './instant.ts';

/** How long a ring may take before a sweep looks, in milliseconds. */
const RING_GRACE_MS = 1_000;

export type Submission = {
  tenantId: TenantId;
  contextId: ContextId;
  jobId: JobId;
  /** Null: run on what stands. */
  input: { messageId: MessageId; content: InputBlock[] } | null;
  /** 1 first … 10; 0: ahead of all, in order among those. */
  priority: number;
  metadata: JsonObject;
  maxSteps: number | null;
  deadline: Millis | null;
  /** Refused where any job of the context is unfinished. */
  onlyIfIdle: boolean;
  /** Refused where so many are queued. */
  queueLimit: number;
};

export type Submitted = {
  /** The context's number when it was accepted. */
  headSeq: number;
  wakeSeq: number;
  epoch: number;
  /** Nobody runs it, and nothing else holds it back: ring. */
  runnable: boolean;
};

/** Null: refused; the row says why. */
export async function submit(executor: Executor, submission: Submission): Promise<Submitted | null> {
  const {
    tenantId,
    contextId,
    jobId,
    input,
    priority,
    metadata,
    maxSteps,
    deadline,
    onlyIfIdle,
    queueLimit,
  } = submission;
  const [row] = await executor.execute<{
    head_seq: number;
    wake_seq: number;
    lease_epoch: number;
    status: string;
  }>(sql`
    with ctx as (
      update contexts c set
        wake_seq = c.wake_seq + 1,
        queued = c.queued + 1,
        status = case when c.status = 'idle' then 'runnable' else c.status end,
        sweep_at = case when c.status = 'idle'
          then clock_timestamp() + ${RING_GRACE_MS}::float8 * interval '1 millisecond' else c.sweep_at end
      where c.id = ${contextId} and c.tenant_id = ${tenantId} and not c.stopped and c.queued + c.steers < ${queueLimit}
        and (not ${onlyIfIdle}::boolean or (c.status = 'idle' and c.queued = 0))
      returning c.id, c.tenant_id, c.active_branch, c.head_seq, c.wake_seq, c.lease_epoch, c.status
    ), input as (
      insert into messages (id, tenant_id, context_id, branch, role, type, status, content, job_id)
      select ${input?.messageId ?? null}::uuid, ctx.tenant_id, ctx.id, ctx.active_branch, 'user', 'text', 'queued',
        ${encodeJson(input?.content ?? [])}::jsonb, ${jobId}::uuid
      from ctx where ${input !== null}::boolean
    ), job as (
      insert into jobs (id, tenant_id, context_id, worker_id, kind, branch, priority, position, message_id, max_steps,
        deadline, metadata)
      select ${jobId}::uuid, ctx.tenant_id, ctx.id, w.id, ${input === null ? 'retry' : 'input'}, ctx.active_branch,
        ${priority}::int, ctx.wake_seq, ${input?.messageId ?? null}::uuid, ${maxSteps}::int, ${toTimestamp(deadline)}::timestamptz,
        ${encodeJson(metadata)}::jsonb
      from ctx join workers w on w.context_id = ctx.id
    )
    select head_seq, wake_seq, lease_epoch, status from ctx`);
  if (row === undefined) return null;
  return {
    headSeq: row.head_seq,
    wakeSeq: row.wake_seq,
    epoch: row.lease_epoch,
    runnable: row.status === 'runnable',
  };
}

/** An input that joins the running job, and which one. */
export type Steering = {
  tenantId: TenantId;
  contextId: ContextId;
  jobId: JobId;
  messageId: MessageId;
  content: InputBlock[];
  queueLimit: number;
};

/**
 * Lets an input wait for the next step of the job that runs. The context's row was locked, and its holder told to look up,
 * before. Null: refused; the row says why.
 */
export async function steer(tx: Executor, steering: Steering): Promise<{ headSeq: number } | null> {
  const { tenantId, contextId, jobId, messageId, content, queueLimit } = steering;
  const [row] = await tx.execute<{ head_seq: number }>(sql`
    with ctx as (
      update contexts c set steers = c.steers + 1
      where c.id = ${contextId} and c.tenant_id = ${tenantId} and not c.stopped and c.queued + c.steers < ${queueLimit}
      returning c.id, c.tenant_id, c.active_branch, c.head_seq
    ), input as (
      insert into messages (id, tenant_id, context_id, branch, role, type, status, content, job_id)
      select ${messageId}::uuid, ctx.tenant_id, ctx.id, ctx.active_branch, 'user', 'text', 'queued',
        ${encodeJson(content)}::jsonb, ${jobId}::uuid
      from ctx
    )
    select head_seq from ctx`);
  return row === undefined ? null : { headSeq: row.head_seq };
}
