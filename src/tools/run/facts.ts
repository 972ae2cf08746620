/** What a tool, its approval function and the log learn about a call. */
import type { ToolInvocation } from '../../core/tools/tool.ts';

export function idsOf({ id, jobId, workerId, contextId }: ToolInvocation) {
  return { tool_call_id: id, job_id: jobId, worker_id: workerId, context_id: contextId };
}

/** Whose call it is. A tool may change its copy of the metadata. */
export function callerOf(call: ToolInvocation) {
  const { tenantName: tenant, user, metadata, workerId: id, workerName: name, role, attempt } = call;
  return { tenant, user, metadata: structuredClone(metadata), worker: { id, name, role }, attempt, ...idsOf(call) };
}

export function factsOf(call: ToolInvocation, signal: AbortSignal) {
  const { idempotencyKey: idempotency_key, traceParent: traceparent } = call;
  return { signal, idempotency_key, traceparent, ...callerOf(call) };
}

export function loggedIds(call: ToolInvocation) {
  return { tool: call.name, ...idsOf(call) };
}
