/** Answers from outside: written beside the call they belong to, until the holder of the context takes them into history. */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { ContextId, JobId, TenantId, ToolCallId } from '../core/ids.ts';
import { ASK_USER } from '../core/question.ts';
import type { Millis } from '../core/time.ts';
import type { CallStatus, Reply, WaitsFor } from '../core/tool-call.ts';
import type { Executor } from './client.ts';
import { encodeJson } from './codec.ts';
import { millis } from './instant.ts';

type Place = { tenantId: TenantId; contextId: ContextId };

/** A call, as whoever wants to answer it finds it. */
export type AskedCall = {
  jobId: JobId;
  status: CallStatus;
  /** Whether it is answered from outside. */
  asked: boolean;
  /** It is, once a person has approved it. */
  unapproved: boolean;
  replied: boolean;
  /** Whether its job was told to end. */
  ending: boolean;
};

/** Of a call `t` that waits: it does for an answer from outside. */
const forAnswer = sql`coalesce(t.waits_for, 'answer') = 'answer'`;

/** Null: this tenant has no such call in this context. */
export async function findAskedCall(
  tx: Executor,
  { tenantId, contextId }: Place,
  id: ToolCallId,
): Promise<AskedCall | null> {
  const [row] = await tx.execute<Omit<AskedCall, 'jobId'> & { job_id: JobId }>(sql`
    select t.job_id, t.status, t.asked_at is not null and ${forAnswer} as asked,
      t.status = 'waiting' and t.waits_for = 'approval' as unapproved, t.reply is not null as replied,
      j.stop_kind is not null as ending
    from tool_calls t join jobs j on j.id = t.job_id
    where t.tenant_id = ${tenantId} and t.context_id = ${contextId} and t.id = ${id}`);
  if (row === undefined) return null;
  const { job_id: jobId, ...call } = row;
  return { jobId, ...call };
}

/** The oldest question on a branch (null: the active one) that nobody answered yet, of a job that nobody told to end. */
export async function oldestQuestion(
  tx: Executor,
  { tenantId, contextId }: Place,
  branch: string | null,
): Promise<{ id: ToolCallId; jobId: JobId } | null> {
  const [row] = await tx.execute<{ id: ToolCallId; job_id: JobId }>(sql`
    select t.id, t.job_id from tool_calls t join jobs j on j.id = t.job_id join contexts c on c.id = t.context_id
    where t.tenant_id = ${tenantId} and t.context_id = ${contextId} and t.status = 'waiting' and t.reply is null and ${forAnswer}
      and t.name = ${ASK_USER} and j.stop_kind is null and j.branch = coalesce(${branch}::text, c.active_branch)
    order by t.asked_at, t.ordinal limit 1`);
  return row === undefined ? null : { id: row.id, jobId: row.job_id };
}

/**
 * Whether a question of context `c` waits for a person: cheap to ask of a context that is idle. Not by `exists`, which may
 * be planned as a look at the open calls of all contexts.
 */
export const hasQuestion = sql`(c.scheduling_status <> 'idle' and (
  select true from tool_calls t where t.context_id = c.id and t.status = 'waiting' and t.reply is null and ${forAnswer}
    and t.name = ${ASK_USER} limit 1) is not null)`;

/** A call that waits, and for what. `until`: when it waits no longer; null: it is not known. */
export type AwaitedCall = { id: ToolCallId; name: string; for: WaitsFor; until: Millis | null };

/** Of a call `t`: nothing came yet of what it waits for. */
export const isAwaited = sql`(t.status = 'waiting' and t.reply is null and (t.approval is null or t.waits_for <> 'approval'))`;

/** Calls of a context that wait, as JSON of `AwaitedCall`, the oldest first. */
export function awaitedCalls(contextId: SQL): SQL {
  return sql`(select jsonb_agg(jsonb_build_object('id', t.id, 'name', t.name,
      'for', coalesce(t.waits_for, 'answer'), 'until', ${millis(sql`t.expires_at`)}) order by t.asked_at, t.ordinal)
    from tool_calls t where t.context_id = ${contextId} and ${isAwaited} and t.waits_for is distinct from 'workers')`;
}

/** How long a ring may take before a sweep looks, in milliseconds. */
export const WAKE_UP_GRACE_MS = 1_000;

export type Replied = {
  /** The context's number when it was accepted. */
  headSeq: number;
  wakeSeq: number;
  epoch: number;
  /** Nobody runs it: ring. */
  runnable: boolean;
};

export type RepliedRow = {
  head_seq: number;
  wake_seq: number;
  lease_epoch: number;
  scheduling_status: string;
};

/** Of context `c`: its holder is told to look; where nobody holds it, it is woken. */
export const woken = sql`
        wake_seq = c.wake_seq + 1,
        control_seq = c.control_seq + 1,
        scheduling_status = case when c.scheduling_status = 'waiting' then 'runnable' else c.scheduling_status end,
        next_check_at = case when c.scheduling_status = 'waiting'
          then clock_timestamp() + ${sql.raw(String(WAKE_UP_GRACE_MS))} * interval '1 millisecond' else c.next_check_at end`;

/** Writes an answer, tells the holder to look, and wakes the context where nobody holds it. Its row was held before. */
export async function writeReply(
  tx: Executor,
  { tenantId, contextId }: Place,
  callId: ToolCallId,
  { messageId, content, isError }: Reply,
): Promise<Replied> {
  const [row] = await tx.execute<RepliedRow>(sql`/* tool_calls.reply */
    with ctx as (
      update contexts c set ${woken}
      where c.id = ${contextId} and c.tenant_id = ${tenantId}
      returning c.id, c.head_seq, c.wake_seq, c.lease_epoch, c.scheduling_status
    ), call as (
      update tool_calls t set reply = ${encodeJson({ content, isError })}::json, reply_message_id = ${messageId}
      from ctx
      where t.context_id = ctx.id and t.id = ${callId} and t.status = 'waiting' and t.reply is null
      returning t.id
    )
    select ctx.head_seq, ctx.wake_seq, ctx.lease_epoch, ctx.scheduling_status from ctx, call`);
  return toReplied(row);
}

export function toReplied(row: RepliedRow | undefined): Replied {
  if (row === undefined) throw new Error('A call was answered that does not wait.');
  return {
    headSeq: row.head_seq,
    wakeSeq: row.wake_seq,
    epoch: row.lease_epoch,
    runnable: row.scheduling_status === 'runnable',
  };
}
