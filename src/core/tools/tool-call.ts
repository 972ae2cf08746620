/**
 * A tool call: requested by an assistant message, with its own status. It is *open* until its result is a message.
 *
 *   pending ──→ started (only `once`, in its own commit) ──→ completed | failed | unknown
 *      └──────────────────────────────────────────────────→ completed | failed | cancelled
 *   pending, started ⇄ waiting ──→ completed | failed | cancelled | denied | expired | unknown
 *   pending with a reply ──→ completed: a transactional call has stored its result, together with its effect
 *   started ──→ pending, if a person or the tool confirms that it had no effect: it runs again
 */
import type { ResultPart } from '../conversation/blocks.ts';
import type { Actor } from '../access/actor.ts';
import type { JobId, MessageId, ToolCallId } from '../ids.ts';
import type { Json } from '../json.ts';
import type { Millis } from '../time.ts';
import type { Effect, OnUnknown } from './tool.ts';

const OPEN_CALL_STATUSES = ['pending', 'started', 'waiting'] as const;
const CLOSED_CALL_STATUSES = ['completed', 'failed', 'cancelled', 'denied', 'expired', 'unknown'] as const;
export const CALL_STATUSES = [...OPEN_CALL_STATUSES, ...CLOSED_CALL_STATUSES] as const;
export type OpenCallStatus = (typeof OPEN_CALL_STATUSES)[number];
export type ClosedCallStatus = (typeof CLOSED_CALL_STATUSES)[number];
export type CallStatus = OpenCallStatus | ClosedCallStatus;

export type ToolCall = {
  id: ToolCallId;
  messageId: MessageId;
  jobId: JobId;
  /** Its position among the calls of one assistant message, from 0. */
  ordinal: number;
  name: string;
  effect: Effect;
  onUnknown: OnUnknown;
};

/**
 * An answer from outside, or the result of a transactional call, until the run adds it to history. For a call that waits
 * for its outcome, an error means that the outcome is not known.
 */
export type Reply = { content: string | ResultPart[]; isError: boolean; compactSummary?: string };

/**
 * What a call may wait for. `approval`: a person's approval decision. `answer`: a person's answer or a client's
 * result. `outcome`: a person's report of the outcome. `workers`: their jobs. `timer`: a time.
 */
export const WAITS_FOR = ['approval', 'answer', 'outcome', 'workers', 'timer'] as const;
export type WaitsFor = (typeof WAITS_FOR)[number];

/**
 * `until`: when the wait times out; null: never. `needs`: for `workers`, how many of their jobs must still end;
 * otherwise null. `since`: when the timer was set.
 */
export type Wait =
  | { for: Exclude<WaitsFor, 'timer'>; until: Millis | null; needs: number | null }
  | { for: 'timer'; since: Millis; until: Millis; needs: null };

/** The approval decision for a call. `input`: what it runs with instead of the model's input; null: unchanged. */
export type ApprovalDecision = {
  decision: 'approve' | 'deny';
  /** Sent to the model. */
  reason: string | null;
  input: Json;
  /** Who decided. Missing: the timeout, or an earlier version stored it. */
  actor?: Actor;
};

/** A call without a result. `started` is written only for `once` calls, before they run. */
export type OpenCall = ToolCall & {
  status: OpenCallStatus;
  /** Only for a waiting call. */
  wait: Wait | null;
  /** Only for a call that waits for a reply, or has settled in its transaction. */
  reply: Reply | null;
  /**
   * For a call that waited for approval: an approved call is `pending` again; a denied call waits for its result to
   * be written.
   */
  approval: ApprovalDecision | null;
};

export type RepliedCall = OpenCall & { reply: Reply };

export function isReplied(call: OpenCall): call is RepliedCall {
  return call.reply !== null;
}
