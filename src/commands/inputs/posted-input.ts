/** What a client posts to a context, and the receipt that it gets. */
import type { InputBlock } from '../../core/conversation/blocks.ts';
import type { ContextId, JobId, MessageId, TenantId } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { CommandPorts } from '../ports.ts';

/** Dependencies of a delivery. */
export type SubmitPorts = Pick<CommandPorts, 'ids' | 'times' | 'stopGraceMs' | 'boundResult'>;

/** How an input is delivered while a job is unfinished: it is queued, joins the job, replaces it, or is refused. */
export const DELIVERIES = ['queue', 'steer', 'interrupt', 'reject'] as const;
export type Delivery = (typeof DELIVERIES)[number];

export type SubmitInput = {
  tenantId: TenantId;
  contextId: ContextId;
  /** Null: run on the current history. */
  content: InputBlock[] | null;
  delivery: Delivery;
  /** The branch; null: the active one. */
  branch: string | null;
  /** From 1 (first) to 10. */
  priority: number;
  metadata: JsonObject;
  maxSteps: number | null;
  deadline: Millis | null;
  queueLimit: number;
};

/**
 * `after`: the context's event number when the input was accepted. `status`: of the job, which is queued unless the
 * input joined it.
 */
export type Accepted = {
  jobId: JobId;
  messageId: MessageId | null;
  contextId: ContextId;
  status: 'queued' | 'running' | 'waiting';
  after: number;
};
