/** Facts about a context, numbered together with its messages and sent to subscribers. See docs/streams.md. */
import type { PublicActor } from '../access/actor.ts';
import type { CompactorType } from '../compaction/type.ts';
import type { CompactionId, JobId, MessageId, ToolCallId, WorkerId } from '../ids.ts';
import type { InterruptMode, JobStatus } from '../run/job.ts';
import type { Json, JsonObject } from '../json.ts';
import type { State } from '../run/state.ts';
import type { CallStatus } from '../tools/tool-call.ts';
import type { Resolution } from '../run/execution.ts';
import type { Turn } from '../conversation/turn.ts';
import type { PublicUsage } from '../money/usage.ts';

/** Formats a context can be imported from: Nightshift's own document, pairs, or a folder in the old layout. */
export const IMPORT_FORMATS = ['nightshift.context', 'paired', 'folder'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

type OfCall = { tool_call_id: ToolCallId; name: string; job_id: JobId };

export type ContextEvent =
  | { name: 'StateChanged'; data: { new_state: State; job_id: JobId | null } }
  | { name: 'JobStarted' | 'JobFinished'; data: { job_id: JobId; status: JobStatus; attempt: number } }
  /** `kept`: data of the source that has no field here. */
  | { name: 'ContextImported'; data: { format: ImportFormat; kept: JsonObject | null } }
  | { name: 'ContextCompacted'; data: ContextCompacted }
  | { name: 'MessagesRetracted'; data: { message_ids: MessageId[]; turn: Turn; mode: InterruptMode } }
  | { name: 'BranchCreated'; data: { branch: string; parent: string; fork_seq: number } }
  | { name: 'BranchSwitched' | 'BranchDeleted'; data: { branch: string } }
  | { name: 'ContextCleared'; data: Record<string, never> }
  | {
      name: 'ToolCallStarted' | 'ToolCallFinished';
      data: { tool_call_id: ToolCallId; name: string; status: CallStatus };
    }
  /** A person must approve or deny a call. `expires_at`: ISO 8601; null: it waits without a limit. */
  | { name: 'ApprovalRequested'; data: OfCall & { input: Json; expires_at: string | null } }
  /**
   * `input`: what the call runs with instead of the model's input; null: unchanged. `by`: a person, or the timeout.
   * `actor`: null for the timeout.
   */
  | {
      name: 'ApprovalResolved';
      data: OfCall & {
        decision: 'approve' | 'deny';
        reason: string | null;
        input: Json;
        remembered: boolean;
        by: 'person' | 'timeout';
        actor: PublicActor | null;
      };
    }
  /** A call was started and its outcome is unknown: a person must report it, until `until` (ISO 8601). */
  | { name: 'OutcomeUnknown'; data: OfCall & { input: Json; until: string | null } }
  | { name: 'OutcomeResolved'; data: OfCall & { outcome: Resolution } }
  /** A call created a worker. `name`: that worker's name. */
  | {
      name: 'WorkerSpawned';
      data: { tool_call_id: ToolCallId; name: string; worker_id: WorkerId; job_id: JobId };
    }
  /** A person must answer a question, or a client must run a call. */
  | {
      name: 'InputRequested';
      data: OfCall & {
        /** Null for a call that a client runs. */
        question: string | null;
        choices: string[] | null;
        /** The input for the client's call; null for a question. */
        input: Json;
      };
    };

/** `model`, `usage` and `attempt` belong to the model call that wrote the summary. Times are ISO 8601. */
export type ContextCompacted = {
  compaction_id: CompactionId;
  branch: string;
  type: CompactorType;
  upto_seq: number;
  tokens_before: number;
  tokens_after: number;
  job_id: JobId;
  model: string | null;
  usage: PublicUsage | null;
  attempt: number;
  started_at: string;
  first_token_at: string | null;
};
