/**
 * The port to tools: what the loop knows about a tool and every possible outcome of a call. A runner does not throw
 * for errors of the model (unknown name, bad arguments) or of the tool (exception, timeout): those are error results.
 */
import type { TraceParent } from '../tracing/trace-parent.ts';
import type { ResultPart } from '../conversation/blocks.ts';
import type { ContextId, JobId, TenantId, ToolCallId, WorkerId } from '../ids.ts';
import type { Json, JsonObject } from '../json.ts';
import type { ToolSpec } from '../model/model.ts';
import type { Approval } from '../run/policy.ts';
import type { User } from '../access/user.ts';
import type { CallReport } from './report.ts';
import type { CallStarts, SpawnedChild } from './starts.ts';
import type { CallSteps } from './steps.ts';
import type { CallTransaction } from './transaction.ts';

/**
 * The consequence of running a call twice. `none`: none. `idempotent`: none, given the same idempotency key. `once`:
 * harm; a call found as started is never repeated.
 */
export const EFFECTS = ['none', 'idempotent', 'once'] as const;
/** What running a call twice does: `none`, `idempotent` or `once`. See `effect` of a tool. */
export type Effect = (typeof EFFECTS)[number];

/** What happens to a `once` call with an unknown outcome: the model is told, or a person is asked. */
export const ON_UNKNOWN = ['tell', 'ask'] as const;
export type OnUnknown = (typeof ON_UNKNOWN)[number];

/**
 * Where the result of a call comes from: the tool that runs, a person who is asked, a client that runs the call
 * itself, workers (created and awaited by the platform), or a timer.
 */
export type AnsweredBy = 'tool' | 'person' | 'client' | 'workers' | 'timer';

export type ToolDescriptor = ToolSpec & { effect: Effect; on_unknown: OnUnknown; answered_by: AnsweredBy };

export type ToolInvocation = {
  id: ToolCallId;
  name: string;
  input: Json;
  tenantId: TenantId;
  tenantName: string;
  /** Of the input that the job answers. */
  metadata: JsonObject;
  user: User | null;
  jobId: JobId;
  workerId: WorkerId;
  workerName: string;
  /** The name of the worker's role; null: none. */
  role: string | null;
  contextId: ContextId;
  /** The attempt of the job (see `ActiveJob`), not of the call. */
  attempt: number;
  /** The same for every execution of this call. */
  idempotencyKey: string;
  /** The place of the call in a trace; null: nothing is traced. */
  traceParent: TraceParent | null;
  /** It was judged as one that fails, so no person was asked: it does not run, even if the tool would accept it now. */
  mustFail?: true;
};

/** `fails`: the call ends with an error. The tool rejects its arguments, or this process has no such tool. */
export type ApprovalCheck = Approval | 'fails';

/** For whom a process looks up tools. `jobId`: the running job, else the next one; null: there is none. */
export type ToolCaller = Pick<ToolInvocation, 'tenantId' | 'tenantName' | 'contextId'> & { jobId: JobId | null };

export type ToolOutcome =
  | {
      kind: 'result';
      content: string | ResultPart[];
      is_error: boolean;
      compact_summary?: string;
      /** Workers that all executions of the call created; missing: none. */
      spawned?: readonly SpawnedChild[];
      /** The result and the execution are already stored with the call (see `CallTransaction`). */
      settled?: true;
      /** Why it failed, for the figures of the tool. Missing: it did not fail, or its content has the code, or none is known. */
      code?: string;
    }
  /** `signal` was aborted before a result arrived. */
  | { kind: 'aborted' };

/** The tool's own report about an execution with an unknown outcome. */
export type Reconciled =
  /** The call took effect, and this is its result. */
  | { kind: 'happened'; result: Extract<ToolOutcome, { kind: 'result' }> }
  | { kind: 'did_not_happen' }
  /** The tool cannot tell, or has no way to check. */
  | { kind: 'unknown' }
  /** `signal` was aborted before the report arrived. */
  | { kind: 'aborted' };

/** What one execution of a call works with. */
export type CallServices = { report: CallReport; steps: CallSteps; starts: CallStarts; transaction: CallTransaction };

export type ToolRunner = {
  execute(call: ToolInvocation, signal: AbortSignal, services: CallServices): Promise<ToolOutcome>;
  /**
   * Whether a person must approve the call. `ruled`: the result of the rules; null: no rule matches. Never throws.
   * No person is asked about a call that fails.
   */
  judge(call: ToolInvocation, ruled: Approval | null): Promise<ApprovalCheck>;
  /** Whether the tool itself asks for approval, or decides for each call; also if this process does not have it. */
  mayAsk(call: ToolInvocation): boolean;
  /** Asks the tool itself. Has no side effects and may be repeated. */
  reconcile(call: ToolInvocation, signal: AbortSignal): Promise<Reconciled>;
  /** How long a person has to report an outcome, in milliseconds; null: no limit. */
  outcomeWaitMs: number | null;
};
