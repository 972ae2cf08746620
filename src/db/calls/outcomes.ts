/** Calls with an unknown outcome that wait for a person: how they are found, resolved and run again. */
import { sql } from 'drizzle-orm';
import type { Resolution } from '../../core/run/execution.ts';
import type { JobId, ToolCallId } from '../../core/ids.ts';
import type { CallStatus, Reply } from '../../core/tools/tool-call.ts';
import type { Executor } from '../connection/client.ts';
import type { Place } from '../run/places.ts';
import { encodeJson } from '../connection/codec.ts';
import { changedContextColumns, type ChangedContext } from '../run/contexts.ts';
import { recordEvent } from '../run/events.ts';
import { checkWritten, woken } from './replies.ts';

/** A call as read before its outcome is resolved. */
export type UnknownCall = {
  jobId: JobId;
  name: string;
  status: CallStatus;
  /** Whether it waits for its outcome, and has none yet. */
  asked: boolean;
  /** Whether the wait has expired. */
  over: boolean;
  /** Whether its job has a stop request. */
  ending: boolean;
};

/** The caller has locked the context's row. Null: the tenant has no such call in this context. */
export async function findUnknownCall(
  tx: Executor,
  { tenantId, contextId }: Place,
  id: ToolCallId,
): Promise<UnknownCall | null> {
  const [row] = await tx.execute<UnknownCall>(sql`
    select t.job_id as "jobId", t.name, t.status,
      t.status = 'waiting' and t.waits_for is not distinct from 'outcome' and t.reply is null as asked,
      coalesce(t.expires_at <= clock_timestamp(), false) as over, j.stop_kind is not null as ending
    from calls t join jobs j on j.id = t.job_id
    where t.tenant_id = ${tenantId} and t.context_id = ${contextId} and t.id = ${id}`);
  return row ?? null;
}

/**
 * Stores the resolution of an unknown outcome: in the execution log, as an event, and on the call. `reply` null: the
 * call runs again. Wakes a waiting context. The caller has locked the context's row.
 */
export async function resolveOutcome(
  tx: Executor,
  { tenantId, contextId }: Place,
  { id, name, jobId }: { id: ToolCallId; name: string; jobId: JobId },
  { outcome, reply }: { outcome: Resolution; reply: Reply | null },
): Promise<ChangedContext> {
  const data = { tool_call_id: id, name, job_id: jobId, outcome };
  const replyJson = reply === null ? null : encodeJson(reply);
  const found = outcome === 'happened' ? 'completed' : outcome === 'did_not_happen' ? outcome : null;
  const [row] = await tx.execute<ChangedContext>(sql`/* tool_calls.resolve_outcome */
    with ctx as (
      update contexts c set head_seq = c.head_seq + 1, ${woken}
      where c.id = ${contextId} and c.tenant_id = ${tenantId}
      returning c.id, c.tenant_id, c.head_seq, c.wake_seq, c.lease_epoch, c.scheduling_status
    ), recorded as (
      ${recordEvent({ name: 'OutcomeResolved', data })}
    ), call as (
      update tool_calls t set reply = ${replyJson}::json,
        status = case when ${replyJson}::json is null then 'pending' else t.status end
      from ctx
      where t.context_id = ctx.id and t.id = ${id} and t.status = 'waiting' and t.reply is null
      returning t.id
    ), execution as (
      update tool_executions x set ended_at = statement_timestamp(), outcome = ${found}::text
      from ctx
      where ${found}::text is not null and x.tool_call_id = ${id} and x.context_id = ctx.id and x.outcome = 'unknown'
    )
    select ${changedContextColumns} from ctx, call`);
  return checkWritten(row);
}
