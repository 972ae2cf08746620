/** The calls of a mailbox that have no result yet. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, JobId, MessageId, ToolCallId } from '../../../core/ids.ts';
import type { Millis } from '../../../core/time.ts';
import type {
  ApprovalDecision,
  OpenCall,
  OpenCallStatus,
  Reply,
  Wait,
  WaitsFor,
} from '../../../core/tools/tool-call.ts';
import type { Effect, OnUnknown } from '../../../core/tools/tool.ts';
import type { Executor } from '../../connection/client.ts';
import { millis } from '../../connection/instant.ts';
import { byContext, type OfContext } from '../places.ts';

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

export async function readOpenCalls(executor: Executor, at: SQL): Promise<Map<ContextId, OpenCall[]>> {
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
  const storedReply = reply === null || replyId === null ? null : { ...reply, messageId: replyId };
  const wait = status === 'waiting' ? toWait(row) : null;
  return {
    id,
    messageId,
    jobId,
    ordinal,
    name,
    effect,
    onUnknown,
    status,
    wait,
    reply: storedReply,
    approval,
  };
}

function toWait({ waits_for: waitsFor, asked_at: since, expires_at: until, needs }: CallRow): Wait {
  if (waitsFor !== 'timer') return { for: waitsFor, until, needs };
  // A timer always has its times. Zero makes an incomplete one expire at once.
  return { for: 'timer', since: since ?? 0, until: until ?? 0, needs: null };
}
