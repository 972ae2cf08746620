/** Converts the steps of a job's timeline to their API form. */
import { toPublicActor } from '../../core/access/actor.ts';
import type { JobId } from '../../core/ids.ts';
import { pinnedText } from '../../core/conversation/pinned.ts';
import { toPublicUsage } from '../../core/money/usage.ts';
import type { CallWait as CallWaitView } from '../../db/calls/call-waits.ts';
import type { ChildJob as ChildJobView, StepView } from '../../db/read/jobs/step-views.ts';
import { toIso, toIsoOrNull } from '../request/instant.ts';
import type { CallWait, ChildJob, JobStep, SentPrompt } from '../schemas/jobs/step.ts';
import type { SentPrompt as Sent } from '../response/sent-prompt.ts';
import { toReport } from './log.ts';
import { toExecution, toToolStep } from './tool-call.ts';

/** `model`: the configured model, for steps without an answer that names it. */
export function toStep(view: StepView, model: string): JobStep {
  return {
    kind: view.kind,
    name: view.name ?? model,
    status: view.status,
    attempt: view.attempt,
    n: view.call,
    prefix_lost_at: view.prefixLostAt,
    started_at: toIso(view.startedAt),
    first_token_at: toIsoOrNull(view.firstTokenAt),
    ended_at: toIsoOrNull(view.endedAt),
    usage: view.usage === null ? null : toPublicUsage(view.usage),
    error: view.error,
    reason: view.reason,
    message_id: view.messageId,
    tool_call_id: view.toolCallId,
    ...(view.report === null ? { progress: null, log: null } : toReport(view.report)),
    tool_steps: view.toolSteps?.map(toToolStep) ?? null,
    executions: view.executions?.map(toExecution) ?? null,
    tokens_before: view.tokens?.before ?? null,
    tokens_after: view.tokens?.after ?? null,
    approval: toApproval(view.approval),
    waits: view.waits?.map(toWait) ?? null,
    child: view.child === null ? null : toChild(view.child),
  };
}

export function toSentPrompt(jobId: JobId, n: number, sent: Sent): SentPrompt {
  const { call, settings, tools, messages, differs, prefix } = sent;
  return {
    job_id: jobId,
    n,
    message_id: call.messageId,
    attempt: call.attempt,
    model: call.fingerprint.model,
    system: settings.systemPrompt,
    pinned: pinnedText(settings.pinned),
    tools,
    messages,
    max_tokens: settings.maxTokens,
    streaming: settings.streaming,
    output_schema: settings.outputSchema,
    parameters: settings.parameters,
    exact: differs.length === 0,
    differs,
    prefix: prefix === null ? null : { lost_at: prefix.lostAt, message: prefix.message },
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
    usage: toPublicUsage(child.usage),
    created_at: toIso(child.createdAt),
    started_at: toIsoOrNull(child.startedAt),
    finished_at: toIsoOrNull(child.finishedAt),
  };
}

function toApproval(approval: StepView['approval']): JobStep['approval'] {
  if (approval === null) return null;
  const { decision, reason, input, at, actor } = approval;
  return {
    decision,
    reason,
    input,
    decided_at: toIso(at),
    actor: actor === undefined ? null : toPublicActor(actor),
  };
}
