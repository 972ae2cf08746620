/** Replies from outside: stored on their call until the run that owns the context's lease adds them to the history. */
import { sql, type SQL } from 'drizzle-orm';
import type { JobId, ToolCallId } from '../../core/ids.ts';
import { ASK_USER } from '../../core/conversation/question.ts';
import type { Millis } from '../../core/time.ts';
import { changedContextColumns, type ChangedContext } from '../run/contexts.ts';
import type { Place } from '../run/places.ts';
import type { CallStatus, Reply, WaitsFor } from '../../core/tools/tool-call.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { WAKE_UP_GRACE_MS, millis } from '../connection/instant.ts';

/** A call as read before it is answered. */
export type AskedCall = {
  jobId: JobId;
  status: CallStatus;
  /** Whether it is answered from outside. */
  asked: boolean;
  /** It will be answered from outside, but still waits for approval. */
  unapproved: boolean;
  replied: boolean;
  /** Whether its job has a stop request. */
  ending: boolean;
};

/** A waiting call `t` waits for an answer from outside. */
const forAnswer = sql`coalesce(t.waits_for, 'answer') = 'answer'`;

/** Null: the tenant has no such call in this context. */
export async function findAskedCall(
  tx: Executor,
  { tenantId, contextId }: Place,
  id: ToolCallId,
): Promise<AskedCall | null> {
  const [row] = await tx.execute<AskedCall>(sql`
    select t.job_id as "jobId", t.status, t.asked_at is not null and ${forAnswer} as asked,
      t.status = 'waiting' and t.waits_for = 'approval' as unapproved, t.reply is not null as replied,
      j.stop_kind is not null as ending
    from calls t join jobs j on j.id = t.job_id
    where t.tenant_id = ${tenantId} and t.context_id = ${contextId} and t.id = ${id}`);
  return row ?? null;
}

/** The oldest unanswered question on a branch (null: the active one), of a job without a stop request. */
export async function oldestQuestion(
  tx: Executor,
  { tenantId, contextId }: Place,
  branch: string | null,
): Promise<{ id: ToolCallId; jobId: JobId } | null> {
  const [row] = await tx.execute<{ id: ToolCallId; jobId: JobId }>(sql`
    select t.id, t.job_id as "jobId" from tool_calls t join jobs j on j.id = t.job_id join contexts c on c.id = t.context_id
    where t.tenant_id = ${tenantId} and t.context_id = ${contextId} and t.status = 'waiting' and t.reply is null and ${forAnswer}
      and t.name = ${ASK_USER} and j.stop_kind is null and j.branch = coalesce(${branch}::text, c.active_branch)
    order by t.asked_at, t.ordinal limit 1`);
  return row ?? null;
}

/**
 * Whether a question of context `c` waits for a person. Cheap for idle contexts. It does not use `exists`, which may be
 * planned as a scan of the open calls of all contexts.
 */
export const hasQuestion = sql`(c.scheduling_status <> 'idle' and (
  select true from tool_calls t where t.context_id = c.id and t.status = 'waiting' and t.reply is null and ${forAnswer}
    and t.name = ${ASK_USER} limit 1) is not null)`;

/** A waiting call, and what it waits for. `until`: when the wait expires; null: not known. */
export type AwaitedCall = { id: ToolCallId; name: string; for: WaitsFor; until: Millis | null };

/** The call `t` waits, and has received neither reply nor approval decision. */
export const isAwaited = sql`(t.status = 'waiting' and t.reply is null and (t.approval is null or t.waits_for <> 'approval'))`;

/** Waiting calls of a context, except those that wait for workers, as JSON of `AwaitedCall`, oldest first. */
export function awaitedCalls(contextId: SQL): SQL {
  return sql`(select jsonb_agg(jsonb_build_object('id', t.id, 'name', t.name,
      'for', coalesce(t.waits_for, 'answer'), 'until', ${millis(sql`t.expires_at`)}) order by t.asked_at, t.ordinal)
    from tool_calls t where t.context_id = ${contextId} and ${isAwaited} and t.waits_for is distinct from 'workers')`;
}

/** Assignments for context `c`: raises `control_seq` for the lease owner, and makes a waiting context runnable. */
export const woken = sql`
        wake_seq = c.wake_seq + 1,
        control_seq = c.control_seq + 1,
        scheduling_status = case when c.scheduling_status = 'waiting' then 'runnable' else c.scheduling_status end,
        next_check_at = case when c.scheduling_status = 'waiting'
          then clock_timestamp() + ${sql.raw(String(WAKE_UP_GRACE_MS))} * interval '1 millisecond' else c.next_check_at end`;

/**
 * Stores a reply, signals the lease owner, and makes a waiting context runnable. The caller has locked the context's
 * row.
 */
export async function writeReply(
  tx: Executor,
  { tenantId, contextId }: Place,
  callId: ToolCallId,
  reply: Reply,
): Promise<ChangedContext> {
  const [row] = await tx.execute<ChangedContext>(sql`/* tool_calls.reply */
    with ctx as (
      update contexts c set ${woken}
      where c.id = ${contextId} and c.tenant_id = ${tenantId}
      returning c.id, c.head_seq, c.wake_seq, c.lease_epoch, c.scheduling_status
    ), call as (
      update tool_calls t set reply = ${encodeJson(reply)}::json
      from ctx
      where t.context_id = ctx.id and t.id = ${callId} and t.status = 'waiting' and t.reply is null
      returning t.id
    )
    select ${changedContextColumns} from ctx, call`);
  return checkWritten(row);
}

/** Throws if the call no longer waited: the transaction is then rolled back. */
export function checkWritten(row: ChangedContext | undefined): ChangedContext {
  if (row === undefined) throw new Error('A reply was written to a call that no longer waits for it.');
  return row;
}
