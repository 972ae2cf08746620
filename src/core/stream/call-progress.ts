/** The progress of a tool call, as it is published to those who follow its context. */
import type { ContextId, JobId, ProcessId, ToolCallId } from '../ids.ts';
import { toIso } from '../time.ts';
import type { CallProgress } from '../tools/report.ts';
import type { FleetingEvent } from './stream-event.ts';

/** `owner`: the process that runs the call. */
export type ProgressFrame = {
  kind: 'progress';
  owner: ProcessId;
  jobId: JobId;
  toolCallId: ToolCallId;
  name: string;
  attempt: number;
  progress: CallProgress;
};

export function progressEvent(contextId: ContextId, frame: ProgressFrame): FleetingEvent {
  const { jobId, toolCallId, name, attempt, progress } = frame;
  const call = { context_id: contextId, job_id: jobId, tool_call_id: toolCallId, name, attempt };
  return { seq: null, name: 'ToolCallProgress', data: { ...call, progress: toPublicProgress(progress) } };
}

export function toPublicProgress({ message, done, total, at }: CallProgress) {
  return { message, done, total, at: toIso(at) };
}
