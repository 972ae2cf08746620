/** One tool call in full: its input, its status, and each execution. */
import { sql } from 'drizzle-orm';
import type { ContextId, JobId, MessageId, TenantId, ToolCallId } from '../../../core/ids.ts';
import type { Json } from '../../../core/json.ts';
import type { Millis } from '../../../core/time.ts';
import type { Effect, OnUnknown } from '../../../core/tools/tool.ts';
import type { CallStatus, ApprovalDecision, WaitsFor } from '../../../core/tools/tool-call.ts';
import type { Executor } from '../../connection/client.ts';
import { executionsOf, type ExecutionView } from '../../run/executions.ts';
import { millis } from '../../connection/instant.ts';

export type ToolCallView = {
  id: ToolCallId;
  contextId: ContextId;
  jobId: JobId;
  /** The answer that requested it. */
  messageId: MessageId;
  name: string;
  /** As the model requested it. */
  input: Json;
  effect: Effect;
  onUnknown: OnUnknown;
  status: CallStatus;
  /** Only while the call waits. */
  wait: { for: WaitsFor; since: Millis; until: Millis | null } | null;
  approval: (ApprovalDecision & { at: Millis }) | null;
  executions: ExecutionView[];
  /** Null: its result is not in the history yet. */
  resultMessageId: MessageId | null;
  createdAt: Millis;
  finishedAt: Millis | null;
};

type Row = {
  id: ToolCallId;
  context_id: ContextId;
  job_id: JobId;
  message_id: MessageId;
  name: string;
  input: Json;
  effect: Effect;
  on_unknown: OnUnknown;
  status: CallStatus;
  waits_for: WaitsFor;
  asked_at: Millis;
  expires_at: Millis | null;
  approval: ApprovalDecision | null;
  approval_at: Millis;
  executions: ExecutionView[] | null;
  result_id: MessageId | null;
  created_at: Millis;
  finished_at: Millis | null;
};

/** Null: the tenant has no such call in this context. */
export async function findToolCall(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  id: ToolCallId,
): Promise<ToolCallView | null> {
  const [row] = await executor.execute<Row>(sql`
    select t.id, t.context_id, t.job_id, t.message_id, t.name, t.effect, t.on_unknown, t.status,
      coalesce(t.waits_for, 'answer') as waits_for, ${millis(sql`t.asked_at`)} as asked_at,
      ${millis(sql`t.expires_at`)} as expires_at, t.approval, ${millis(sql`t.approval_at`)} as approval_at,
      ${millis(sql`t.created_at`)} as created_at, ${millis(sql`t.finished_at`)} as finished_at,
      (select b -> 'input' from json_array_elements(m.content) b where b ->> 'id' = t.id::text limit 1) as input,
      ${executionsOf(sql`t.id`)} as executions,
      (select r.id from messages r where r.context_id = t.context_id and r.branch = m.branch and r.seq > m.seq
        and r.job_id = t.job_id and r.role = 'tool' and r.content -> 0 ->> 'tool_use_id' = t.id::text
        order by r.seq limit 1) as result_id
    from tool_calls t join messages m on m.id = t.message_id
    where t.tenant_id = ${tenantId} and t.context_id = ${contextId} and t.id = ${id}`);
  return row === undefined ? null : toView(row);
}

function toView(row: Row): ToolCallView {
  const { status, approval } = row;
  return {
    id: row.id,
    contextId: row.context_id,
    jobId: row.job_id,
    messageId: row.message_id,
    name: row.name,
    input: row.input,
    effect: row.effect,
    onUnknown: row.on_unknown,
    status,
    wait: status === 'waiting' ? { for: row.waits_for, since: row.asked_at, until: row.expires_at } : null,
    approval: approval === null ? null : { ...approval, at: row.approval_at },
    executions: row.executions ?? [],
    resultMessageId: row.result_id,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  };
}
