/**
 * What stands in a transcript for the result of a call that brought none. Every `tool_use` gets exactly one
 * `tool_result`, so these are written by rule, in words a model understands.
 */
import type { Effect } from './tool.ts';
import type { ClosedCallStatus, OpenCall, WaitsFor } from './tool-call.ts';

export type Closing = { status: ClosedCallStatus; text: string };

export const OUTCOME_UNKNOWN: Closing = {
  status: 'unknown',
  text: 'Started, outcome unknown: the process that ran this call died before it could report. It may have happened. Check before repeating it.',
};

/** What is known of a call where all that a person says is that it happened. */
export const HAPPENED =
  'It happened: somebody who looked has confirmed it. What it returned is not known. Do not repeat it.';

const NEVER_RAN: Closing = { status: 'cancelled', text: 'Cancelled before it ran.' };

const ABORTED: Closing = {
  status: 'cancelled',
  text: 'Cancelled while it may have been running. Nothing that matters was changed, or repeating it is safe.',
};

const ABORTED_ONCE: Closing = {
  status: 'unknown',
  text: 'Cancelled after it had started, outcome unknown. It may have happened. Check before repeating it.',
};

/** `reason`: of whoever denied it; null: none was given. */
export function deniedWith(reason: string | null): Closing {
  return {
    status: 'denied',
    text: reason === null ? 'Denied by the operator.' : `Denied by the operator: ${reason}`,
  };
}

/** A rule, or the tool itself, says so. */
export const FORBIDDEN: Closing = {
  status: 'denied',
  text: 'Denied: this call is not allowed here. It did not run, and asking for it again will not change that.',
};

/** A wait that its time ended, where that is not what was waited for. */
export function expiredWait(effect: Effect, waitedFor: Exclude<WaitsFor, 'timer'> | undefined): Closing {
  switch (waitedFor) {
    case 'approval':
      return { status: 'expired', text: 'Nobody approved this call in time: it did not run.' };
    case 'outcome':
      return OUTCOME_UNKNOWN;
    case 'workers':
      return { status: 'expired', text: 'The workers did not end in time. They go on.' };
    case undefined:
    case 'answer':
      return effect === 'once'
        ? {
            status: 'unknown',
            text: 'The client was asked to run this call and did not say in time how that went: outcome unknown. It may have happened. Check before repeating it.',
          }
        : { status: 'expired', text: 'Nobody answered in time.' };
  }
}

const UNANSWERED: Closing = { status: 'cancelled', text: 'Nobody answered before the job ended.' };

const UNHEARD: Closing = {
  status: 'unknown',
  text: 'The client was asked to run this call, and the job ended before it said how that went: outcome unknown. It may have happened. Check before repeating it.',
};

/** How an open call is closed when its job ends before it did. */
export function closingOf(call: OpenCall): Closing {
  if (call.status === 'started') return ABORTED_ONCE;
  if (call.status === 'waiting') return unfinishedWait(call);
  return call.effect === 'once' ? NEVER_RAN : ABORTED;
}

/** What was not begun did not happen, and a `once` call whose outcome was asked for may have. */
function unfinishedWait({ wait, effect }: OpenCall): Closing {
  switch (wait?.for) {
    case 'approval':
      return NEVER_RAN;
    case 'outcome':
      return OUTCOME_UNKNOWN;
    case 'workers':
    case 'timer':
      return { status: 'cancelled', text: 'The job ended before what this call waited for.' };
    case undefined:
    case 'answer':
      return effect === 'once' ? UNHEARD : UNANSWERED;
  }
}
