/** A tool call as its tool is given it. */
import { isToolUse } from '../core/blocks.ts';
import type { Block } from '../core/blocks.ts';
import type { ToolCallId } from '../core/ids.ts';
import type { ActiveJob } from '../core/job.ts';
import type { Json } from '../core/json.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { ToolInvocation } from '../core/tool.ts';
import type { OpenCall } from '../core/tool-call.ts';

/**
 * What it is run with: what whoever approved it wrote, else what the model asked for, which stands in the answer that did:
 * one of the last messages, however long history is.
 */
export function inputOf({ history }: Snapshot, { id, messageId, approval }: OpenCall): Json {
  if (approval !== null && approval.decision === 'approve' && approval.input !== null) return approval.input;
  return inputIn(history.findLast((message) => message.id === messageId)?.content ?? [], id);
}

/** What the answer asks for. */
export function inputIn(answer: readonly Block[], id: ToolCallId): Json {
  return answer.filter(isToolUse).find((use) => use.id === id)?.input ?? {};
}

export function toInvocation(
  snapshot: Snapshot,
  job: ActiveJob,
  call: OpenCall,
  input: Json,
): ToolInvocation {
  return {
    id: call.id,
    name: call.name,
    input,
    tenantId: snapshot.lease.tenantId,
    jobId: job.id,
    workerId: snapshot.workerId,
    contextId: snapshot.lease.contextId,
    idempotencyKey: call.id,
  };
}
