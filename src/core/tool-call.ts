/**
 * A tool call: requested by an assistant message, with a status of its own. It is *open* until its result is a message.
 *
 *   pending ──→ started (only `once`, in a commit of its own) ──→ completed | failed | unknown
 *      └───────────────────────────────────────────────────────→ completed | failed | cancelled
 *   pending, started ⇄ waiting (for somebody, or for a moment) ──→ completed | failed | cancelled | denied | expired | unknown
 *   started ──→ pending, where somebody who knows says that it did not happen: it runs anew
 */
import type { ResultPart } from './blocks.ts';
import type { JobId, MessageId, ToolCallId } from './ids.ts';
import type { Json } from './json.ts';
import type { Millis } from './time.ts';
import type { Effect, OnUnknown } from './tool.ts';

export const OPEN_CALL_STATUSES = ['pending', 'started', 'waiting'] as const;
export const CLOSED_CALL_STATUSES = [
  'completed',
  'failed',
  'cancelled',
  'denied',
  'expired',
  'unknown',
] as const;
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

/**
 * What was answered from outside, until the holder takes it into history as the message `messageId`. To a call that waits
 * for its outcome an error says that nobody knows it.
 */
export type Reply = { messageId: MessageId; content: string | ResultPart[]; isError: boolean };

/**
 * What a call may wait for. `approval`: a person's verdict. `answer`: what a person says, or a client brings. `outcome`: a
 * person who says what became of it. `workers`: their jobs. `timer`: a moment.
 */
export const WAITS_FOR = ['approval', 'answer', 'outcome', 'workers', 'timer'] as const;
export type WaitsFor = (typeof WAITS_FOR)[number];

/**
 * `until`: when it is over, whatever came; null: never by itself. `needs`: of `workers`, how many of their jobs must still
 * end; null of all else. `since`: when a timer was set.
 */
export type Wait =
  | { for: Exclude<WaitsFor, 'timer'>; until: Millis | null; needs: number | null }
  | { for: 'timer'; since: Millis; until: Millis; needs: null };

/** What was said to a call being run. `input`: what it is run with instead of what the model asked; null: as asked. */
export type ApprovalDecision = {
  decision: 'approve' | 'deny';
  /** The model is told. */
  reason: string | null;
  input: Json;
};

/** A call without a result. `started` is written only for `once` calls, and before they run. */
export type OpenCall = ToolCall & {
  status: OpenCallStatus;
  /** Of one that waits. */
  wait: Wait | null;
  /** Only of a call that waits for one. */
  reply: Reply | null;
  /** Of one that waited for approval: an approved call is `pending` again, a denied one waits for its end to be written. */
  approval: ApprovalDecision | null;
};

export type RepliedCall = OpenCall & { reply: Reply };

export function isReplied(call: OpenCall): call is RepliedCall {
  return call.reply !== null;
}
