/**
 * A tool call: requested by an assistant message, with a status of its own. It is *open* until its result is a message.
 *
 *   pending ──→ started (only `once`, in a commit of its own) ──→ completed | failed | unknown
 *      └───────────────────────────────────────────────────────→ completed | failed | cancelled
 */
import type { JobId, MessageId, ToolCallId } from './ids.ts';
import type { Effect, OnUnknown } from './tool.ts';

export const OPEN_CALL_STATUSES = ['pending', 'started'] as const;
export const CLOSED_CALL_STATUSES = ['completed', 'failed', 'cancelled', 'unknown'] as const;
export const CALL_STATUSES = [...OPEN_CALL_STATUSES, ...CLOSED_CALL_STATUSES] as const;
export type OpenCallStatus = (typeof OPEN_CALL_STATUSES)[number];
export type ClosedCallStatus = (typeof CLOSED_CALL_STATUSES)[number];
export type CallStatus = OpenCallStatus | ClosedCallStatus;

export type ToolCall = {
  id: ToolCallId;
  messageId: MessageId;
  jobId: JobId;
  /** Its place among the calls of one assistant message, from 0. */
  ordinal: number;
  name: string;
  effect: Effect;
  onUnknown: OnUnknown;
};

/** A call without a result. `started` is written only for `once` calls, and before they run. */
export type OpenCall = ToolCall & { status: OpenCallStatus };
