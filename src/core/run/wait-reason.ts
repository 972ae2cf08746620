/** Why contexts with work are not running now, for statistics. */
import type { DurableState } from './state.ts';

/**
 * `slot`: it waits for a worker process. `throttle`: its provider is throttled. `retry`: a model call failed and is
 * repeated later. `timer`: a tool waits for a time. `unsupported`: no process that tried it serves its model, tools or
 * role. `recovery`: its worker process could not continue.
 */
export const WAIT_REASONS = [
  'slot',
  'approval',
  'answer',
  'workers',
  'throttle',
  'retry',
  'timer',
  'unsupported',
  'recovery',
] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/**
 * Of a context that waits. `isThrottled`: its job waits for a throttle. `hasFailed`: processes that claimed it died, or
 * could not continue.
 */
type Waiting = { isRunnable: boolean; isThrottled: boolean; hasFailed: boolean };

export function waitReason(state: DurableState, { isRunnable, isThrottled, hasFailed }: Waiting): WaitReason {
  if (isRunnable) return 'slot';
  switch (state) {
    case 'AwaitingToolApproval':
      return 'approval';
    case 'AwaitingInput':
      return 'answer';
    case 'AwaitingWorkers':
      return 'workers';
    case 'TransientFailure':
      return isThrottled ? 'throttle' : hasFailed ? 'recovery' : 'retry';
    case 'ExecutingTools':
      return hasFailed ? 'recovery' : 'timer';
    case 'Idle':
    case 'ProcessingUserMessage':
    case 'AwaitingLLMResponse':
    case 'PermanentFailure':
    case 'Stopped':
      return isThrottled ? 'throttle' : hasFailed ? 'recovery' : 'unsupported';
  }
}
