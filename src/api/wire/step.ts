/** A step of a job's timeline as it leaves. */
import type { StepView } from '../../db/step-views.ts';
import { toIso, toIsoOrNull } from '../instant.ts';
import type { JobStep } from '../schemas/step.ts';
import { toUsage } from './usage.ts';

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
    usage: view.usage === null ? null : toUsage(view.usage),
    error: view.error,
    message_id: view.messageId,
    tool_call_id: view.toolCallId,
  };
}
