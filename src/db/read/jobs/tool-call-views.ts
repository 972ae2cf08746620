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

type Row = Omit<ToolCallView, 'approval'> & { approval: ApprovalDecision | null; approvalAt: Millis };

/** Null: the tenant has no such call in this context. */
export async function findToolCall(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  id: ToolCallId,
): Promise<ToolCallView | null> {
  const [row] = await executor.execute<Row>(sql`
    select t.id, t.context_id as "contextId", t.job_id as "jobId", t.message_id as "messageId", t.name, t.effect,
      t.on_unknown as "onUnknown", t.status,
      case when t.status = 'waiting' then json_build_object('for', coalesce(t.waits_for, 'answer'),
        'since', ${millis(sql`t.asked_at`)}, 'until', ${millis(sql`t.expires_at`)}) end as wait,
      t.approval, ${millis(sql`t.approval_at`)} as "approvalAt",
      ${millis(sql`t.created_at`)} as "createdAt", ${millis(sql`t.finished_at`)} as "finishedAt",
      (select b -> 'input' from json_array_elements(m.content) b where b ->> 'id' = t.id::text limit 1) as input,
      coalesce(${executionsOf(sql`t.id`)}, '[]') as executions,
      (select r.id from messages r where r.context_id = t.context_id and r.branch = m.branch and r.seq > m.seq
        and r.job_id = t.job_id and r.role = 'tool' and r.content -> 0 ->> 'tool_use_id' = t.id::text
        order by r.seq limit 1) as "resultMessageId"
    from tool_calls t join messages m on m.id = t.message_id
    where t.tenant_id = ${tenantId} and t.context_id = ${contextId} and t.id = ${id}`);
  return row === undefined ? null : toView(row);
}

function toView({ approval, approvalAt, ...row }: Row): ToolCallView {
  return { ...row, approval: approval === null ? null : { ...approval, at: approvalAt } };
}
