/** What a client posts to a context, and the receipt that it gets. */
import type { TraceParent } from '../../core/tracing/trace-parent.ts';
import type { InputBlock } from '../../core/conversation/blocks.ts';
import type { Refusal } from '../../core/errors.ts';
import type { ContextId, JobId, MessageId, TenantId } from '../../core/ids.ts';
import type { OutputSchema } from '../../core/run/output.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { Actor } from '../../core/access/actor.ts';
import type { User } from '../../core/access/user.ts';
import type { CommandPorts } from '../ports.ts';

/** Dependencies of a delivery. */
export type SubmitPorts = Pick<CommandPorts, 'ids' | 'times' | 'stopGraceMs' | 'boundResult'>;

/** How an input is delivered while a job is unfinished: it is queued, joins the job, replaces it, or is refused. */
export const DELIVERIES = ['queue', 'steer', 'interrupt', 'reject'] as const;
export type Delivery = (typeof DELIVERIES)[number];

/** An input, and the options of its job. */
export type JobOptions = {
  /** Null: run on the current history. */
  content: InputBlock[] | null;
  /** From 1 (first) to 10. */
  priority: number;
  metadata: JsonObject;
  /** On whose behalf the job runs; null: that of the worker. */
  user: User | null;
  maxSteps: number | null;
  /** What the answer must match; null: what the settings of the worker say. */
  outputSchema: OutputSchema | null;
  deadline: Millis | null;
  /** Its place in the trace of its caller; null: the caller gave none. */
  traceParent: TraceParent | null;
};

export type SubmitInput = JobOptions & {
  tenantId: TenantId;
  contextId: ContextId;
  delivery: Delivery;
  /** The branch; null: the active one. */
  branch: string | null;
  /** Who posts it; null: not known. An interrupt tells who stopped the job. */
  by: Actor | null;
  queueLimit: number;
  /**
   * Why the tenant may have no more jobs, or no more content; null: it may. An input that joins a job adds no job, and one
   * that answers a question adds neither.
   */
  full: Refusal | null;
};

/** The first input of a new worker: its context is idle and has one branch. */
export type FirstInput = JobOptions & { content: InputBlock[] };

/**
 * `after`: the context's event number when the input was accepted. `status`: of the job, which is queued unless the
 * input is delayed, or joined it.
 */
export type Accepted = {
  jobId: JobId;
  messageId: MessageId | null;
  contextId: ContextId;
  status: 'delayed' | 'queued' | 'running' | 'waiting';
  after: number;
};
