/** A step of a job's timeline as it leaves. */
import { tellUsage } from '../../core/usage.ts';
import type { CallWait as CallWaitView } from '../../db/call-waits.ts';
import type { ChildJob as ChildJobView, StepView } from '../../db/step-views.ts';
import { toIso, toIsoOrNull } from '../instant.ts';
import type { CallWait, ChildJob, JobStep } from '../schemas/step.ts';
import { toExecution } from './tool-call.ts';

/** `model`: what is asked where no answer names it. */
export function toStep(view: StepView, model: string): JobStep {
  return {
    kind: view.kind,
    name: view.name ?? model,
    status: view.status,
    attempt: view.attempt,
    started_at: toIso(view.startedAt),
    first_token_at: toIsoOrNull(view.firstTokenAt),
    ended_at: toIsoOrNull(view.endedAt),
    usage: view.usage === null ? null : tellUsage(view.usage),
    error: view.error,
    message_id: view.messageId,
    tool_call_id: view.toolCallId,
    executions: view.executions?.map(toExecution) ?? null,
    tokens_before: view.tokens?.before ?? null,
    tokens_after: view.tokens?.after ?? null,
    approval: toApproval(view.approval),
    waits: view.waits?.map(toWait) ?? null,
    child: view.child === null ? null : toChild(view.child),
  };
}

function toWait(wait: CallWaitView): CallWait {
  return {
    for: wait.for,
    asked_at: toIso(wait.askedAt),
    expires_at: toIsoOrNull(wait.expiresAt),
    ended_at: toIsoOrNull(wait.endedAt),
  };
}

function toChild(child: ChildJobView): ChildJob {
  return {
    job_id: child.jobId,
    context_id: child.contextId,
    worker_id: child.workerId,
    name: child.name,
    status: child.status,
    usage: tellUsage(child.usage),
    created_at: toIso(child.createdAt),
    started_at: toIsoOrNull(child.startedAt),
    finished_at: toIsoOrNull(child.finishedAt),
  };
}

/** `input`: what the call was run with instead of what the model asked; null: as asked. */
function toApproval(approval: StepView['approval']): JobStep['approval'] {
  if (approval === null) return null;
  const { decision, reason, input, at } = approval;
  return { decision, reason, input, decided_at: toIso(at) };
}
