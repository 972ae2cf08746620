/**
 * The port to tools: what the loop knows of a tool, and every way its execution can turn out. A runner never throws
 * for what a model did (unknown name, bad arguments) or a tool did (throw, time-out): those are error results.
 */
import type { ResultPart } from './blocks.ts';
import type { ContextId, JobId, TenantId, ToolCallId, WorkerId } from './ids.ts';
import type { Json } from './json.ts';
import type { ToolSpec } from './model.ts';
import type { Approval } from './policy.ts';

/**
 * What running it again would do. `none`: nothing. `idempotent`: nothing new, given the same idempotency key.
 * `once`: harm; a call that was found started is never repeated.
 */
export const EFFECTS = ['none', 'idempotent', 'once'] as const;
export type Effect = (typeof EFFECTS)[number];

/** What becomes of a `once` call whose outcome is unknown: the model is told, or a person is asked. */
export const ON_UNKNOWN = ['tell', 'ask'] as const;
export type OnUnknown = (typeof ON_UNKNOWN)[number];

/**
 * Whoever brings the result of a call: the tool that is run, a person who is asked, a client that runs it itself, workers (the
 * platform makes them, and waits for them), or time.
 */
export type AnsweredBy = 'tool' | 'person' | 'client' | 'workers' | 'timer';

export type ToolDescriptor = ToolSpec & { effect: Effect; on_unknown: OnUnknown; answered_by: AnsweredBy };

export type ToolInvocation = {
  id: ToolCallId;
  name: string;
  input: Json;
  tenantId: TenantId;
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

/** What a tool says of an execution that nobody saw end. */
export type Reconciled =
  /** It happened, and this is what the call would have brought. */
  | { kind: 'happened'; result: Extract<ToolOutcome, { kind: 'result' }> }
  | { kind: 'did_not_happen' }
  /** It cannot tell, or has no way to. */
  | { kind: 'unknown' }
  /** `signal` was aborted before it said. */
  | { kind: 'aborted' };

export type ToolRunner = {
  execute(call: ToolInvocation, signal: AbortSignal): Promise<ToolOutcome>;
  /**
   * Whether a person is asked before it runs. `ruled`: what rules say; null: nothing. Never throws. A call whose arguments
   * the tool does not take is `never` asked about: it comes back without having run.
   */
  judge(call: ToolInvocation, ruled: Approval | null): Promise<Approval>;
  /** Asks the tool itself. Changes nothing, and may be asked again. */
  reconcile(call: ToolInvocation, signal: AbortSignal): Promise<Reconciled>;
  /** How long a person has who is asked for an outcome, in milliseconds; null: as long as it takes. */
  outcomeWaitMs: number | null;
};
