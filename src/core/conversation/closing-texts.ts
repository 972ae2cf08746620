/**
 * The results written for tool calls that returned none. Every `tool_use` gets exactly one `tool_result`, so these
 * texts are generated for the model to read.
 */
import type { Effect } from '../tools/tool.ts';
import type { ClosedCallStatus, OpenCall, WaitsFor } from '../tools/tool-call.ts';

export type Closing = { status: ClosedCallStatus; text: string };

export const OUTCOME_UNKNOWN: Closing = {
  status: 'unknown',
  text: 'Started, outcome unknown: the process that ran this call died before it reported a result. The call may have taken effect. Check before repeating it.',
};

/** The result when a person confirms only that the call took effect. */
export const HAPPENED =
  'The call took effect: a person has confirmed it. Its return value is unknown. Do not repeat it.';

export const NEVER_RAN: Closing = { status: 'cancelled', text: 'Cancelled before it ran.' };

const ABORTED: Closing = {
  status: 'cancelled',
  text: 'Cancelled while it may have been running. It has no side effects, or repeating it is safe.',
};

const ABORTED_ONCE: Closing = {
  status: 'unknown',
  text: 'Cancelled after it started, outcome unknown. The call may have taken effect. Check before repeating it.',
};

/** `reason`: given by the person who denied it; null: none given. */
export function deniedWith(reason: string | null): Closing {
  return {
    status: 'denied',
    text: reason === null ? 'Denied by the operator.' : `Denied by the operator: ${reason}`,
  };
}

/** Denied by a rule or by the tool itself. */
export const FORBIDDEN: Closing = {
  status: 'denied',
  text: 'Denied: this call is not allowed here. It did not run. Requesting it again will be denied too.',
};

/** The result of a wait that timed out, for waits other than timers. */
export function expiredWait(effect: Effect, waitedFor: Exclude<WaitsFor, 'timer'> | undefined): Closing {
  switch (waitedFor) {
    case 'approval':
      return { status: 'expired', text: 'This call was not approved in time. It did not run.' };
    case 'outcome':
      return OUTCOME_UNKNOWN;
    case 'workers':
      return { status: 'expired', text: 'The workers did not finish in time. They are still running.' };
    case undefined:
    case 'answer':
      return effect === 'once'
        ? {
            status: 'unknown',
            text: 'The client was asked to run this call and did not report a result in time: outcome unknown. The call may have taken effect. Check before repeating it.',
          }
        : { status: 'expired', text: 'No answer arrived in time.' };
  }
}

const UNANSWERED: Closing = { status: 'cancelled', text: 'No answer arrived before the job ended.' };

const OUTCOME_NOT_REPORTED: Closing = {
  status: 'unknown',
  text: 'The client was asked to run this call, and the job ended before the client reported a result: outcome unknown. The call may have taken effect. Check before repeating it.',
};

/** The result of a call that is still open when its job ends. */
export function closingOf(call: OpenCall): Closing {
  if (call.status === 'started') return ABORTED_ONCE;
  if (call.status === 'waiting') return unfinishedWait(call);
  return call.effect === 'once' ? NEVER_RAN : ABORTED;
}

/** A call that never started had no effect. A `once` call whose outcome was requested may have had one. */
function unfinishedWait({ wait, effect }: OpenCall): Closing {
  switch (wait?.for) {
    case 'approval':
      return NEVER_RAN;
    case 'outcome':
      return OUTCOME_UNKNOWN;
    case 'workers':
    case 'timer':
      return { status: 'cancelled', text: 'The job ended before the event this call was waiting for.' };
    case undefined:
    case 'answer':
      return effect === 'once' ? OUTCOME_NOT_REPORTED : UNANSWERED;
  }
}
