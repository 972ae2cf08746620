/** Facts that happened in a context, numbered with its messages and told to listeners. Shapes: contract, "SSE". */
import type { CompactorType } from './compaction/type.ts';
import type { CompactionId, JobId, MessageId, ToolCallId, WorkerId } from './ids.ts';
import type { InterruptMode, JobStatus } from './job.ts';
import type { Json, JsonObject } from './json.ts';
import type { State } from './state.ts';
import type { CallStatus } from './tool-call.ts';
import type { Resolution } from './execution.ts';
import type { Turn } from './turn.ts';
import type { PublicUsage } from './usage.ts';

/** What a context can be made from: our own document, pairs, or a folder of the old layout. */
export const IMPORT_FORMATS = ['nightshift.context', 'paired', 'folder'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

export type ContextEvent =
  | { name: 'StateChanged'; data: { new_state: State; job_id: JobId | null } }
  | { name: 'JobStarted' | 'JobFinished'; data: { job_id: JobId; status: JobStatus; attempt: number } }
  /** `kept`: what the source said that has no place here. */
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
  /** A person is to say whether a call is run. `expires_at`: ISO 8601; null: it waits for as long as it takes. */
  | {
      name: 'ApprovalRequested';
      data: {
        tool_call_id: ToolCallId;
        name: string;
        job_id: JobId;
        input: Json;
        expires_at: string | null;
      };
    }
  /** `input`: what it is run with instead of what was asked; null: as asked. `by`: a person, or time ran out. */
  | {
      name: 'ApprovalResolved';
      data: {
        tool_call_id: ToolCallId;
        name: string;
        job_id: JobId;
        decision: 'approve' | 'deny';
        reason: string | null;
        input: Json;
        remembered: boolean;
        by: 'person' | 'timeout';
      };
    }
  /** A call was begun, and nobody saw it end: a person is to say what became of it, until `until` (ISO 8601). */
  | {
      name: 'OutcomeUnknown';
      data: { tool_call_id: ToolCallId; name: string; job_id: JobId; input: Json; until: string | null };
    }
  | {
      name: 'OutcomeResolved';
      data: { tool_call_id: ToolCallId; name: string; job_id: JobId; outcome: Resolution };
    }
  /** A worker came to be by a call. `name`: of that worker. */
  | {
      name: 'WorkerSpawned';
      data: { tool_call_id: ToolCallId; name: string; worker_id: WorkerId; job_id: JobId };
    }
  /** Somebody outside is to answer a call: a person a question, or a client what it was given to run. */
  | {
      name: 'InputRequested';
      data: {
        tool_call_id: ToolCallId;
        name: string;
        job_id: JobId;
        /** Null of what a client runs. */
        question: string | null;
        choices: string[] | null;
        /** What a client is to run it with; null of a question. */
        input: Json;
      };
    };

/** `model`, `usage` and `attempt`: of the model call that wrote the summary. Times are ISO 8601. */
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
