/** Builds the invocation of a tool call. */
import { isToolUse, type Block } from '../../core/conversation/blocks.ts';
import type { ToolCallId } from '../../core/ids.ts';
import type { ActiveJob } from '../../core/run/job.ts';
import type { Json } from '../../core/json.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import type { ToolInvocation } from '../../core/tools/tool.ts';
import type { OpenCall } from '../../core/tools/tool-call.ts';

/**
 * The input the call runs with: the one written by the person who approved it, otherwise the one in the model's
 * answer. That answer is one of the last messages, so the search is short for any history length.
 */
export function inputOf({ history }: Snapshot, { id, messageId, approval }: OpenCall): Json {
  if (approval !== null && approval.decision === 'approve' && approval.input !== null) return approval.input;
  return inputIn(history.findLast((message) => message.id === messageId)?.content ?? [], id);
}

/** The call's input in the answer. */
export function inputIn(answer: readonly Block[], id: ToolCallId): Json {
  return answer.filter(isToolUse).find((use) => use.id === id)?.input ?? {};
}

export function toInvocation(snapshot: Snapshot, job: ActiveJob, call: OpenCall, input: Json): ToolInvocation {
  return {
    id: call.id,
    name: call.name,
    input,
    tenantId: snapshot.lease.tenantId,
    tenantName: snapshot.lease.tenantName,
    metadata: job.metadata,
    user: job.user,
    jobId: job.id,
    workerId: snapshot.workerId,
    workerName: snapshot.workerName,
    role: snapshot.role,
    contextId: snapshot.lease.contextId,
    attempt: job.attempt,
    idempotencyKey: call.id,
    traceParent: job.traceParent,
  };
}
