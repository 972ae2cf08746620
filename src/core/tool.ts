/**
 * The port to tools: what the loop knows of a tool, and every way its execution can turn out. A runner never throws
 * for what a model did (unknown name, bad arguments) or a tool did (throw, time-out): those are error results.
 */
import type { ResultPart } from './blocks.ts';
import type { ContextId, JobId, ToolCallId, WorkerId } from './ids.ts';
import type { Json } from './json.ts';
import type { ToolSpec } from './model.ts';

/**
 * What running it again would do. `none`: nothing. `idempotent`: nothing new, given the same idempotency key.
 * `once`: harm; a call that was found started is never repeated.
 */
export const EFFECTS = ['none', 'idempotent', 'once'] as const;
export type Effect = (typeof EFFECTS)[number];

/** What becomes of a `once` call whose outcome is unknown: the model is told, or a person is asked. */
export type OnUnknown = 'tell' | 'ask';

export type ToolDescriptor = ToolSpec & { effect: Effect; on_unknown: OnUnknown };

export type ToolInvocation = {
  id: ToolCallId;
  name: string;
  input: Json;
  jobId: JobId;
  workerId: WorkerId;
  contextId: ContextId;
  /** The same for every execution of this call. */
  idempotencyKey: string;
};

export type ToolOutcome =
  | { kind: 'result'; content: string | ResultPart[]; is_error: boolean; compact_summary?: string }
  /** `signal` was aborted before a result came. */
  | { kind: 'aborted' };

export type ToolRunner = {
  execute(call: ToolInvocation, signal: AbortSignal): Promise<ToolOutcome>;
};
