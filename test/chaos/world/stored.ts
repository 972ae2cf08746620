// The stored rows, as the checks read them. Times in milliseconds since 1970.
import type { Block } from '../../../src/core/conversation/blocks.ts';
import type { Span } from '../../../src/core/conversation/branch.ts';
import type { JobStatus } from '../../../src/core/run/job.ts';
import type { MessageRole } from '../../../src/core/conversation/message.ts';

export type Config = Record<string, unknown>;

export type StoredContext = {
  id: string;
  scheduling_status: string;
  state: string;
  head_seq: number;
  lease_owner: string | null;
  next_check_at: number | null;
  stopped: boolean;
  queued: number;
  steers: number;
  failed_claims: number;
  stored_bytes: number;
  message_count: number;
  turn_count: number;
  request_count: number;
  input_tokens: number;
  output_tokens: number;
  active_branch: string;
  worker_id: string;
  /** Of the worker that made its own. */
  parent_context_id: string | null;
  detached: boolean;
  /** Of its worker. */
  config: Config;
  version: number;
};

export type StoredBranch = {
  context_id: string;
  name: string;
  parent_name: string | null;
  fork_seq: number | null;
  spans: Span[] | null;
  message_count: number;
  request_count: number;
  input_tokens: number;
  output_tokens: number;
};

export type StoredCompaction = {
  id: string;
  context_id: string;
  branch: string;
  seq: number;
  upto_seq: number;
  type: string;
  tokens_before: number;
  tokens_after: number;
  job_id: string;
};

export type StoredJob = {
  id: string;
  context_id: string;
  kind: string;
  branch: string;
  status: JobStatus;
  priority: number;
  position: number;
  message_id: string | null;
  steps: number;
  input_tokens: number;
  output_tokens: number;
  output_message_id: string | null;
  error_code: string | null;
  stop_kind: string | null;
  stop_mode: string | null;
  stop_reason: string | null;
  stop_requested_at: number | null;
  stop_delivered_at: number | null;
  stopped_at: number | null;
  /** Of a delayed input: its start. */
  starts_at: number | null;
  started_at: number | null;
  finished_at: number | null;
  /** The call that asked for it, if it was no client. */
  parent_job_id: string | null;
  parent_tool_call_id: string | null;
  /** The notice or cascade that is still due. */
  parent_notice: string | null;
  cascade: string | null;
  /** The job whose end it reports. */
  notice_of_job_id: string | null;
  created_at: number;
};

export type StoredMessage = {
  id: string;
  context_id: string;
  branch: string;
  seq: number | null;
  role: MessageRole;
  type: string;
  turn: string | null;
  status: 'delayed' | 'queued' | 'completed' | 'retracted' | 'withdrawn';
  content: Block[];
  /** Of the content. */
  bytes: number;
  job_id: string | null;
  /** Of an answer: the model that made it. */
  model_id: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  /** Of an answer: which of the job's attempts it is. */
  attempt: number | null;
  completed_at: number | null;
};

export type StoredEvent = {
  context_id: string;
  seq: number;
  name: string;
  data: Record<string, unknown>;
};

export type StoredCall = {
  id: string;
  context_id: string;
  job_id: string;
  message_id: string;
  name: string;
  effect: 'none' | 'idempotent' | 'once';
  status: 'pending' | 'started' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'denied' | 'expired' | 'unknown';
  started_at: number | null;
  /** It is answered from outside. */
  asked: boolean;
  /** A person's decision, and its time; null: none. */
  approval: { decision: 'approve' | 'deny'; input: unknown } | null;
  approval_at: number | null;
  reply: { content: unknown; isError: boolean } | null;
};
