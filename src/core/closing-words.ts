/**
 * What stands in a transcript for the result of a call that brought none. Every `tool_use` gets exactly one
 * `tool_result`, so these are written by rule, in words a model understands.
 */
import type { OpenCall } from './tool-call.ts';
import type { ClosedCallStatus } from './tool-call.ts';

export type Closing = { status: ClosedCallStatus; text: string };

export const OUTCOME_UNKNOWN: Closing = {
  status: 'unknown',
  text: 'Started, outcome unknown: the process that ran this call died before it could report. It may have happened. Check before repeating it.',
};

const NEVER_RAN: Closing = { status: 'cancelled', text: 'Cancelled before it ran.' };

const ABORTED: Closing = {
  status: 'cancelled',
  text: 'Cancelled while it may have been running. Nothing that matters was changed, or repeating it is safe.',
};

const ABORTED_ONCE: Closing = {
  status: 'unknown',
  text: 'Cancelled after it had started, outcome unknown. It may have happened. Check before repeating it.',
};

/** How an open call is closed when its job ends before it did. */
export function closingOf(call: OpenCall): Closing {
  if (call.status === 'started') return ABORTED_ONCE;
  return call.effect === 'once' ? NEVER_RAN : ABORTED;
}
