/** Facts that happened in a context, numbered with its messages and told to listeners. Shapes: contract, "SSE". */
import type { JobId, MessageId, ToolCallId } from './ids.ts';
import type { InterruptMode, JobStatus } from './job.ts';
import type { State } from './state.ts';
import type { CallStatus } from './tool-call.ts';
import type { Turn } from './turn.ts';

export type ContextEvent =
  | { name: 'StateChanged'; data: { new_state: State; job_id: JobId | null } }
  | { name: 'JobStarted' | 'JobFinished'; data: { job_id: JobId; status: JobStatus; attempt: number } }
  | { name: 'MessagesRetracted'; data: { message_ids: MessageId[]; turn: Turn; mode: InterruptMode } }
  | {
      name: 'ToolCallStarted' | 'ToolCallFinished';
      data: { tool_call_id: ToolCallId; name: string; status: CallStatus };
    };
