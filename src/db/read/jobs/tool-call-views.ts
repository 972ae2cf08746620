/** Tool calls in full: their status and each execution; the input of a single one. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, JobId, MessageId, TenantId, ToolCallId } from '../../../core/ids.ts';
import type { Json } from '../../../core/json.ts';
import type { Millis } from '../../../core/time.ts';
import type { Effect, OnUnknown } from '../../../core/tools/tool.ts';
import type { CallStatus, ApprovalDecision, WaitsFor } from '../../../core/tools/tool-call.ts';
import type { Executor } from '../../connection/client.ts';
import { reportOf, type ReportView } from '../../calls/tool-reports.ts';
import { toolStepsOf, type ToolStepView } from '../../calls/tool-steps.ts';
import { executionsOf, type ExecutionView } from '../../run/executions.ts';
import { encodeJson } from '../../connection/codec.ts';
import { millis } from '../../connection/instant.ts';

export type ToolCallView = ToolCallState & {
  /** As the model requested it. */
  input: Json;
};

export type ToolCallState = {
  id: ToolCallId;
  contextId: ContextId;
  jobId: JobId;
  /** The answer that requested it. */
  messageId: MessageId;
  name: string;
  effect: Effect;
  onUnknown: OnUnknown;
  status: CallStatus;
  /** Only while the call waits. */
  wait: { for: WaitsFor; since: Millis; until: Millis | null } | null;
  approval: (ApprovalDecision & { at: Millis }) | null;
  executions: ExecutionView[];
  /** What its tool reported. */
  report: ReportView;
  toolSteps: ToolStepView[];
  /** Null: its result is not in the history yet. */
  resultMessageId: MessageId | null;
  createdAt: Millis;
  finishedAt: Millis | null;
};

type Row<View> = Omit<View, 'approval'> & { approval: ApprovalDecision | null; approvalAt: Millis };

/** `input`: a further column, or nothing. `m` is the message of the call `t`. */
const toolCalls = (input: SQL): SQL => sql`
    select t.id, t.context_id as "contextId", t.job_id as "jobId", t.message_id as "messageId", t.name, t.effect,
      t.on_unknown as "onUnknown", t.status,
      case when t.status = 'waiting' then json_build_object('for', coalesce(t.waits_for, 'answer'),
        'since', ${millis(sql`t.asked_at`)}, 'until', ${millis(sql`t.expires_at`)}) end as wait,
      t.approval, ${millis(sql`t.approval_at`)} as "approvalAt",
      ${millis(sql`t.created_at`)} as "createdAt", ${millis(sql`t.finished_at`)} as "finishedAt",
      ${input}
      coalesce(${executionsOf(sql`t.id`)}, '[]') as executions,
      ${reportOf(sql`t.id`, sql`t.tenant_id`)} as report,
      ${toolStepsOf(sql`t.id`, sql`t.tenant_id`)} as "toolSteps",
      (select r.id from messages r where r.id = t.id and r.context_id = t.context_id) as "resultMessageId"
    from calls t join messages m on m.id = t.message_id`;

/** Null: the tenant has no such call in this context. */
export async function findToolCall(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  id: ToolCallId,
): Promise<ToolCallView | null> {
  const input = sql`
      (select b -> 'input' from json_array_elements(m.content) b where b ->> 'id' = t.id::text limit 1) as input,`;
  const [row] = await executor.execute<Row<ToolCallView>>(sql`
    ${toolCalls(input)} where t.tenant_id = ${tenantId} and t.context_id = ${contextId} and t.id = ${id}`);
  return row === undefined ? null : toView<ToolCallView>(row);
}

/** Those of the calls that the context has, in any order. Their inputs are in the messages that requested them. */
export async function findToolCalls(
  executor: Executor,
  tenantId: TenantId,
  contextId: ContextId,
  ids: readonly ToolCallId[],
): Promise<ToolCallState[]> {
  const rows = await executor.execute<Row<ToolCallState>>(sql`
    ${toolCalls(sql``)} where t.tenant_id = ${tenantId} and t.context_id = ${contextId}
      and t.id = any(array(select i::uuid from jsonb_array_elements_text(${encodeJson(ids)}::jsonb) i))`);
  return rows.map((row) => toView<ToolCallState>(row));
}

function toView<View extends ToolCallState>({ approval, approvalAt, ...row }: Row<View>) {
  return { ...row, approval: approval === null ? null : { ...approval, at: approvalAt } };
}
