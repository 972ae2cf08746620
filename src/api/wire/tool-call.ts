/** Converts tool calls and their executions to their API form. */
import type { Static } from 'typebox';
import { toPublicActor } from '../../core/access/actor.ts';
import type { ToolStepView } from '../../db/calls/tool-steps.ts';
import type { ExecutionView } from '../../db/run/executions.ts';
import type { ToolCallState, ToolCallView } from '../../db/read/jobs/tool-call-views.ts';
import { toIso, toIsoOrNull } from '../request/instant.ts';
import { toReport } from './log.ts';
import type { MessageToolCall, ToolCall, ToolExecution, ToolStep } from '../schemas/jobs/tool-call.ts';

export function toToolCall(view: ToolCallView): ToolCall {
  const { input, approval } = view;
  return { ...toMessageToolCall(view), input, run_input: approval?.input ?? input };
}

export function toMessageToolCall(view: ToolCallState): MessageToolCall {
  const { approval, wait } = view;
  return {
    id: view.id,
    context_id: view.contextId,
    job_id: view.jobId,
    message_id: view.messageId,
    name: view.name,
    effect: view.effect,
    on_unknown: view.onUnknown,
    status: view.status,
    waits_for: wait?.for ?? null,
    waits_since: toIsoOrNull(wait?.since ?? null),
    waits_until: toIsoOrNull(wait?.until ?? null),
    approval:
      approval === null
        ? null
        : {
            decision: approval.decision,
            reason: approval.reason,
            input: approval.input,
            at: toIso(approval.at),
            actor: approval.actor === undefined ? null : toPublicActor(approval.actor),
          },
    executions: view.executions.map(toExecution),
    ...toReport(view.report),
    tool_steps: view.toolSteps.map(toToolStep),
    result_message_id: view.resultMessageId,
    created_at: toIso(view.createdAt),
    finished_at: toIsoOrNull(view.finishedAt),
  };
}

export function toToolStep({ name, endedAt, bytes }: ToolStepView): Static<typeof ToolStep> {
  return { name, ended_at: toIso(endedAt), bytes };
}

export function toExecution(view: ExecutionView): Static<typeof ToolExecution> {
  return {
    number: view.number,
    epoch: view.epoch,
    idempotency_key: view.idempotencyKey,
    began_at: toIso(view.beganAt),
    ended_at: toIsoOrNull(view.endedAt),
    outcome: view.outcome,
  };
}
