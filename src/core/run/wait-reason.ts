/** Why contexts with work are not running now, for statistics. */
import type { DurableState } from './state.ts';

/**
 * `slot`: it waits for a worker process. `throttle`: its provider is throttled. `retry`: a model call failed and is
 * repeated later. `timer`: a tool waits for a time. `recovery`: its worker process could not continue.
 */
export const WAIT_REASONS = [
  'slot',
  'approval',
  'answer',
  'workers',
  'throttle',
  'retry',
  'timer',
  'recovery',
] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/** Of a context that waits. `throttled`: its job waits for a throttle. */
export function waitReason(state: DurableState, isRunnable: boolean, throttled: boolean): WaitReason {
  if (isRunnable) return 'slot';
  switch (state) {
    case 'AwaitingToolApproval':
      return 'approval';
    case 'AwaitingInput':
      return 'answer';
    case 'AwaitingWorkers':
      return 'workers';
    case 'TransientFailure':
      return throttled ? 'throttle' : 'retry';
    case 'ExecutingTools':
      return 'timer';
    case 'Idle':
    case 'ProcessingUserMessage':
    case 'AwaitingLLMResponse':
    case 'PermanentFailure':
    case 'Stopped':
      return throttled ? 'throttle' : 'recovery';
  }
}
